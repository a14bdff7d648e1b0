import unittest


class SumTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(sum([1, 2]), 3)
