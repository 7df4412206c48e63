#!/usr/bin/env python3
"""What the comparison finds and what it accepts: `python3 tests/golden/test_compare.py`."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from cases import Case, Step
from compare import Rules, compare
from sandbox import Result

CASE = Case("repo", (Step(("check", "-v")),))


def rules(text=""):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        return Rules(Path(file.name))


def differences(old, new, text=""):
    found, used = compare(CASE, [old], [new], rules(text))
    return [(each.stream, each.removed, each.added) for each in found], sum(used.values())


class Compare(unittest.TestCase):
    def test_equal_results_do_not_differ(self):
        result = Result("0", "a\n", "", {"x": "y"})
        self.assertEqual(differences(result, result), ([], 0))

    def test_each_stream_differs_by_itself(self):
        found, _ = differences(Result("0", "a\nb\n", "", {"x": "1"}), Result("1", "a\nc\n", "e\n", {"y": "1"}))
        self.assertEqual([stream for stream, _, _ in found], ["exit", "stdout", "stderr", "file x", "file y"])
        self.assertEqual(found[1], ("stdout", ["b"], ["c"]))

    def test_an_accepted_line_leaves_the_others(self):
        row = '[[accepted]]\nrow = "r"\nwhy = "w"\ncommand = "repo: check"\nstream = "stdout"\nold = ["^b"]\nnew = ["^c"]\n'
        self.assertEqual(differences(Result("0", "a\nb\n", ""), Result("0", "a\nc\n", ""), row), ([], 1))
        found, _ = differences(Result("0", "a\nb\n", ""), Result("0", "a\nc\nd\n", ""), row)
        self.assertEqual(found, [("stdout", [], ["d"])])
        found, used = differences(Result("0", "b", ""), Result("0", "c", ""), row.replace("repo: check", "repo: fmt"))
        self.assertEqual((len(found), used), (1, 0))

    def test_replaced_words_are_equal(self):
        row = "[[accepted]]\nrow = 'r'\nwhy = 'w'\nreplace = [['b3:[0-9a-f]+', 'b3:…']]\n"
        self.assertEqual(differences(Result("0", "b3:01", ""), Result("0", "b3:fe", ""), row), ([], 1))
        self.assertEqual(len(differences(Result("0", "b3:01", ""), Result("0", "c3:fe", ""), row)[0]), 1)

    def test_one_difference_is_accepted_by_its_id(self):
        found, _ = compare(CASE, [Result("0", "a\nb", "")], [Result("0", "a\nc", "")], rules())
        row = f"[[accepted]]\nrow = 'r'\nwhy = 'w'\ndiffs = ['{found[0].id}']\n"
        self.assertEqual(differences(Result("0", "a\nb", ""), Result("0", "a\nc", ""), row), ([], 1))
        self.assertEqual(len(differences(Result("0", "a\nb", ""), Result("0", "a\nd", ""), row)[0]), 1)

    def test_json_in_other_bytes_differs(self):
        found, _ = differences(Result("0", '{"a":1}', ""), Result("0", '{"a": 1}', ""))
        self.assertEqual(len(found), 1)

    def test_taking_too_long_in_both_is_no_difference(self):
        slow = Result("timeout", "", "")
        self.assertEqual(differences(slow, slow), ([], 0))
        self.assertTrue(differences(slow, Result("0", "", ""))[0])

    def test_a_row_without_a_reason_is_refused(self):
        with self.assertRaises(SystemExit):
            rules("[[accepted]]\nrow = 'r'\n")


if __name__ == "__main__":
    unittest.main()
