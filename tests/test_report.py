"""The report of a model: a page that stands alone, in a real browser where there is one."""

from __future__ import annotations

import re
import shutil
from html import escape

import numpy as np
import pandas as pd
import pytest

from srff import SRFFClassifier, SRFFRegressor
from srff.inspect.describe import selected
from srff.inspect.evaluate import assess
from srff.inspect.wording import figure, measured, share

pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra: plot)")

HOSTILE = '<img src=x onerror="document.title=1">&"\''
LONG = "the mean temperature of the outflow of the second tank over the last hour, in kelvin " * 2


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = pd.DataFrame(rng.standard_normal((400, 5)), columns=["first", HOSTILE, LONG, "d", "e"])
    y = np.sin(2 * X.iloc[:, 0]) + X.iloc[:, 1] * X.iloc[:, 2] + rng.normal(0, 0.1, 400)
    return X[:300], y[:300], X[300:], y[300:]


@pytest.fixture(scope="module")
def model(data):
    X, y, *_ = data
    return SRFFRegressor(n_components=40, max_iter=8, random_state=0).fit(X, y)


def test_the_answer_comes_first_and_names_are_escaped(model, data):
    page = model.report(X=data[2], y=data[3])
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    lead = re.search(r"<p class=lead>(.*?)</p>", page)[1]
    assert "3 of 5 variables matter" in lead
    assert "<b>first</b>" in lead
    assert "<img" not in page
    # Three curves and, as they act together, surfaces; two of the fit; the scales, the search.
    assert page.count("<figure") == page.count("<svg") >= 8
    ids = re.findall(r'\bid="?([^" >]+)', page)
    assert len(ids) == len(set(ids))
    assert "http" not in re.sub(r'(xmlns(:xlink)?|http-equiv)="?[^"> ]*', "", page)


def test_shuffling_shows_how_much_a_variable_is_missed(model, data):
    X, y = data[2], data[3]
    rows = assess(model, X, y)
    assert rows.error == pytest.approx(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    assert rows.explained == pytest.approx(model.score(X, y))
    assert rows.targets[0].r2 == pytest.approx(model.score(X, y))
    # Shuffling x in sin(2 x) gives twice its variance, that of x z twice the variance of x z.
    missed = {one.entry.name: one for one in rows.importances}
    assert missed["first"].rise == pytest.approx(2 * np.var(np.sin(2 * X.iloc[:, 0])), rel=0.4)
    assert all(one.rise > 3 * one.standard_error for one in rows.importances)


def test_the_page_is_written_whole_and_not_over_another(model, tmp_path):
    path = tmp_path / "report.html"
    page = model.report(path)
    assert path.read_text("utf-8") == page
    with pytest.raises(FileExistsError, match=r"report\.html is there already"):
        model.report(path)
    model.report(path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(ValueError, match="X and y must be given together"):
        model.report(X=[[1]])


def test_models_of_few_words_have_a_page_too():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 3))
    nothing = SRFFRegressor(n_components=10, max_iter=2, random_state=0).fit(X, rng.normal(size=60))
    page = nothing.report()
    if not nothing.get_support().any():
        assert "None of the 3 variables helps" in page
    with pytest.warns(UserWarning, match="constant"):
        constant = SRFFRegressor().fit(X, np.ones(60))
    assert "None of the 3 variables helps" in constant.report(X=X, y=np.ones(60))
    given = SRFFRegressor(
        refine=None, solver="alternating", alpha=0.01, n_components=10, max_iter=2, random_state=0
    )
    with pytest.warns(UserWarning, match="The solver stopped"):
        given.fit(X, X[:, 0])
    assert "1 candidate model considered" in given.report()


@pytest.fixture(scope="module")
def classified():
    """A model of classes, rows with categories and gaps, and their classes."""
    rng = np.random.RandomState(0)
    X = pd.DataFrame(rng.standard_normal((400, 3)), columns=["age", "dose", "noise"])
    X["colour"] = rng.choice(["red", "green", "<b>blue"], 400)
    score = 2 * np.sin(2 * X.age) + 2 * (X.colour == "red") + rng.logistic(0, 0.2, 400)
    y = np.array(["<i>low", "mid", "high"])[np.digitize(score, [0, 1.5])]
    X.loc[::5, "age"] = np.nan
    model = SRFFClassifier(n_components=40, max_iter=6, missing="impute", random_state=0)
    return model.fit(X[:300], y[:300]), X[300:], y[300:]


def test_the_page_of_a_classifier_tells_how_classes_are_told_apart(classified):
    model, X, y = classified
    page = model.report(X=X, y=y)
    found = assess(model, X, y)
    assert {"age", "colour"} <= {entry.name for entry in selected(model)}
    error = measured(model.expected_error_, model.expected_error_se_).replace("+-", "±")
    assert f"The log loss to expect on new rows is <b>{error}</b> (300 rows held out in 5" in page
    assert f"<b>{share(found.classes.accuracy)}</b> of the rows are given their class" in page
    assert f"<b>{found.classes.auc:.3f}</b>" in page
    assert "The error without it is the log loss when" in page
    for label, count in zip(model.classes_, np.diag(found.classes.confusion), strict=True):
        assert f'<td data-label="class">{escape(label)}</td>' in page
        assert f">{count}</td>" in page
    assert "<i>low" not in page
    assert "<b>blue" not in page
    assert "Classes told apart." in page
    assert "model.predict_proba(X)" in page


def test_the_page_speaks_of_categories_and_gaps_by_the_users_columns(classified):
    page = classified[0].report()
    lines = page.split("in the training data")[-1]
    line = re.search(r">colour</td>.*?</tr>", lines)[0]
    assert "3: " in line
    shares = [float(text) for text in re.findall(r"([\d.]+) %", line)]
    assert sum(shares) == pytest.approx(100, abs=0.2)
    line = re.search(r">age</td>.*?</tr>", lines)[0]
    assert "20.0 %" in line
    assert "filled in with the median" in page


def test_the_page_of_several_targets_has_a_line_for_each():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((200, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]), 30 * X[:, 1]])
    model = SRFFRegressor(n_components=20, max_iter=3, random_state=0).fit(X[:150], Y[:150])
    page = model.report(X=X[150:], y=Y[150:])
    for t, one in enumerate(assess(model, X[150:], Y[150:]).targets):
        line = re.search(rf">target {t}</td>.*?</tr>", page)[0]
        assert f">{figure(one.rmse)}</td>" in line
        assert f">{share(one.r2)}</td>" in line
    assert "Effects on target 1." in page


@pytest.mark.parametrize("kind", ["groups", "poisson", "pinball"])
def test_groups_and_losses_are_called_by_their_names(kind):
    rng = np.random.RandomState(0)
    X = pd.DataFrame(rng.standard_normal((200, 4)), columns=list("abcd"))
    settings = {"loss": kind} if kind != "groups" else {"groups": {"<u>both": ["a", "b"]}}
    model = SRFFRegressor(
        n_components=20, max_iter=3, refine=None, alpha=0.01, random_state=0, **settings
    )
    y = rng.poisson(np.exp(0.5 * X.a * X.b))
    page = model.fit(X, y).report(X=X, y=y)
    if kind == "groups":
        assert "of 3 variables or groups matter" in page
        assert "<b>&lt;u&gt;both</b> (a, b)" in page
        assert '<td data-label="variable">&lt;u&gt;both (a, b)</td>' in page
    else:
        said = {"poisson": "half of the mean Poisson deviance", "pinball": "of the median"}[kind]
        assert said in page
        assert "root mean squared" not in page


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (extra: browser)"
    )
    where = shutil.which("chromium")
    if where is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=where, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(model, data, classified, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    model.report(folder / "numbers.html", data[2], data[3])
    classified[0].report(folder / "classes.html", *classified[1:])
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_a_browser_shows_all_of_it(browser, pages, width, scheme, kind):
    path = pages / f"{kind}.html"
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert messages == []
    assert requests == [path.as_uri()]
    assert page.title() == "Which variables matter"
    for closed in page.locator("details > summary").all():
        closed.click()
    for drawn in page.locator("figure svg").all():
        box = drawn.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
    # Nothing makes the page itself wider than the screen.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table = page.locator("table").first
    missed = table.locator("tbody td:nth-child(2)")
    shares = [float(text.split()[0]) for text in missed.all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    if width < 640:
        page.close()
        return  # a line is a card there, and has no heads
    button = table.locator("th button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    again = [float(text.split()[0]) for text in missed.all_inner_texts()]
    assert again == sorted(shares)
    assert table.locator("th").nth(1).get_attribute("aria-sort") == "ascending"
    page.close()
