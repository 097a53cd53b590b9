"""The report of a model: a page that stands alone, in a real browser where there is one."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pandas as pd
import pytest

from srff import SRFFRegressor

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
    assert page.count("<figure") == page.count("<svg") == 4
    ids = re.findall(r'\bid="?([^" >]+)', page)
    assert len(ids) == len(set(ids))
    assert "http" not in re.sub(r'(xmlns(:xlink)?|http-equiv)="?[^"> ]*', "", page)


def test_shuffling_shows_how_much_a_variable_is_missed(model, data):
    from srff.report import _Rows

    X, y = data[2], data[3]
    rows = _Rows(model, X, y)
    assert rows.rmse == pytest.approx(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    assert rows.r2 == pytest.approx(model.score(X, y))
    # Shuffling x in sin(2 x) gives twice its variance, that of x z twice the variance of x z.
    assert rows.rise[0] == pytest.approx(2 * np.var(np.sin(2 * X.iloc[:, 0])), rel=0.4)
    assert (rows.rise > 3 * rows.rise_error).all()


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_a_browser_shows_all_of_it(browser, model, data, tmp_path, width, scheme):
    path = tmp_path / "report.html"
    model.report(path, data[2], data[3])
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert messages == []
    assert requests == [path.as_uri()]
    assert page.title() == "Which variables matter"
    for figure in page.locator("figure svg").all():
        box = figure.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
    # Nothing makes the page itself wider than the screen.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table = page.locator("table").first
    scales = [float(t) for t in table.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert scales == sorted(scales, reverse=True)
    button = table.locator("th button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    again = [float(t) for t in table.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert again == sorted(scales)
    assert table.locator("th").nth(1).get_attribute("aria-sort") == "ascending"
    page.close()
