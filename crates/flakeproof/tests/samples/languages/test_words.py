import pytest


@pytest.mark.parametrize("word", ["a", "b"])
def test_upper(word):
    assert word.upper().lower() == word


class TestSplit:
    def test_at_spaces(self):
        assert "a b".split() == ["a", "b"]
