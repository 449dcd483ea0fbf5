"""A prompt -> its kind (recall/request_kind.py)."""

from __future__ import annotations

import pytest

from memdir.recall.request_kind import PASTE_CHARACTERS, kind_of

TRACE = 'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\nKeyError: 3'


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        # commands
        ("/review the lag", "command"),
        ("run the integration tests", "command"),
        ("ok, please deploy it to staging", "command"),
        ("Run the tests and fix what fails", "command"),
        ("请运行一下测试", "command"),
        ("テストを実行して", "command"),
        ("部署到生产环境", "command"),
        ("git push", "command"),
        # errors
        (f"why this?\n{TRACE}", "error"),
        ("fix this: error[E0382]: borrow of moved value\nerror: aborting", "error"),
        ("the build fails since this morning", "error"),
        ("I get a weird exception when I open the page", "error"),
        ("测试报错了", "error"),
        ("ログイン画面でエラーが出ます", "error"),
        # pastes
        ("lorem ipsum " * (PASTE_CHARACTERS // 12 + 1), "paste"),
        ("a = 1\n" * 30, "paste"),
        # changes
        ("add a retry to the client", "change"),
        ("Can you rename the column?", "change"),
        ("I'd like you to refactor this module.", "change"),
        ("The page is slow. Please cache the result, and make it configurable", "change"),
        ("帮我修复登录页面", "change"),
        ("把端口改成 8080", "change"),
        ("この関数をリファクタリングしてください", "change"),
        ("ボタンの色を変えて", "change"),
        # questions
        ("how far does the replica lag?", "question"),
        ("how do I add a column", "question"),
        ("explain the deploy", "question"),
        ("Which database do the integration tests use", "question"),
        ("怎么修复这个问题", "question"),
        ("我们的数据库是什么", "question"),
        ("デプロイの手順を教えて", "question"),
        ("何时部署？", "question"),
        ("the git history looks odd, why?", "question"),
        ("なぜ遅いですか", "question"),
        # short ones, and the rest
        ("go on", "short"),
        ("yes, thanks", "short"),
        ("继续", "short"),
        ("はい", "short"),
        ("/etc/hosts looks odd on my machine", "other"),
        ("", "other"),
        ("The customers are mostly in Norway and rarely pay on time.", "other"),
    ],
)
def test_a_prompt_has_one_kind_of_request_R10(prompt: str, kind: str) -> None:
    assert kind_of(prompt) == kind


def test_no_prompt_takes_long_to_sort_R10() -> None:
    for hostile in (
        " " * 50_000,
        "please " * 9_000,
        "把" * 50_000,
        "a." * 30_000,
        "```" * 9_000,
        "\n" * 40_000,
    ):
        kind_of(hostile)
