"""The worker runs TestNG."""

from suite import for_versions
from worker import outcomes


class Testng:
    framework = "testng"

    def test_the_worker_says_who_it_is(self):
        framework = self.worker("Plain").hello["framework"]
        self.assertRegex(framework, "^TestNG [67][.]")

    def test_nothing_runs_while_tests_are_collected(self):
        worker = self.collected("Plain", "Hooked", "AllAnnotated", "Depending", "Surrounding")
        self.assertEqual(worker.trace(), [])
        ids = [test[0] for test in worker.tests]
        self.assertIn("demo.Hooked#hooked", ids)
        self.assertIn("demo.Depending#third", ids)
        self.assertNotIn("demo.Plain#disabled", ids)
        self.assertLess(ids.index("demo.Plain#urgent"), ids.index("demo.Plain#passes"))

    def test_every_outcome_is_told_from_the_others(self):
        worker = self.collected("Plain")
        order = ["passes", "fails", "skips", "urgent"]
        results = worker.run([f"demo.Plain#{each}" for each in order])
        found = [each["outcome"] for each in results]
        self.assertEqual(found, ["passed", "failed", "skipped", "passed"])
        self.assert_failure(results[1], "failed", "call", "expected", "demo/Plain.java")
        self.assertEqual(results[2]["note"], "not here")
        self.assertIn("out", results[0]["output"])

    def test_a_class_is_set_up_once_for_tests_in_a_row_and_again_when_it_comes_back(self):
        worker = self.collected("Plain", "AllAnnotated")
        order = ["Plain#passes", "Plain#urgent", "AllAnnotated#a", "Plain#passes"]
        results = worker.run([f"demo.{each}" for each in order])
        self.assertEqual([result["id"] for result in results], order)
        around = ["open", "before", "passes", "after", "before", "urgent", "after", "close"]
        again = ["open", "before", "passes", "after", "close"]
        self.assertEqual(worker.trace(), [*around, "a", *again])

    def test_an_inherited_test_belongs_to_the_class_that_runs_it(self):
        worker = self.collected("Ancestor", "Heir")
        ids = {test[0] for test in worker.tests}
        ancestors = {f"demo.Ancestor#{each}" for each in ("inherited", "row[0]", "row[1]")}
        heirs = {f"demo.Heir#{each}" for each in ("inherited", "row[0]", "row[1]", "own")}
        self.assertEqual(ids, ancestors | heirs)
        worker.trace()
        order = ["Heir#row[1]", "Ancestor#row[0]", "Heir#inherited", "Ancestor#inherited"]
        results = worker.run([f"demo.{each}" for each in order])
        self.assertEqual([result["id"] for result in results], order)
        self.assertEqual({result["outcome"] for result in results}, {"passed"})
        rows = ["row 2 of Heir", "row 1 of Ancestor"]
        plain = ["inherited of Heir", "inherited of Ancestor"]
        self.assertEqual(worker.trace(), rows + plain)

    def test_methods_run_in_any_order(self):
        worker = self.collected("Plain", "AllAnnotated", "Depending", "Rows", "Hooked")
        worker.trace()
        for order in (
            ["Plain#urgent", "Plain#passes"],
            ["Plain#passes", "Plain#urgent"],
            ["AllAnnotated#c", "AllAnnotated#a", "AllAnnotated#b"],
            ["AllAnnotated#b", "AllAnnotated#c", "AllAnnotated#a"],
            ["Depending#third", "Depending#second", "Depending#first", "Depending#base"],
            ["Depending#first", "Depending#second", "Depending#base", "Depending#third"],
            ["Rows#small[1]", "Rows#plain", "Rows#small[0]"],
            ["Plain#passes", "Plain#passes"],
            ["Hooked#hooked"],
        ):
            with self.subTest(order):
                results = worker.run([f"demo.{each}" for each in order])
                self.assertEqual([result["id"] for result in results], order)
                self.assertEqual({result["outcome"] for result in results}, {"passed"})

    def test_a_test_alone_runs_without_what_it_depends_on(self):
        worker = self.collected("Depending")
        for name in ("second", "third"):
            found = outcomes(worker.run([f"demo.Depending#{name}"]))
            self.assertEqual(found, {f"Depending#{name}": "passed"})
            self.assertEqual(worker.trace(), [name])

    def test_a_test_is_skipped_when_what_it_depends_on_failed_before_it(self):
        worker = self.collected("Depending", properties=["break.first=true"])
        results = worker.run(["demo.Depending#first", "demo.Depending#second"])
        self.assertEqual([each["outcome"] for each in results], ["failed", "skipped"])

    def test_rows_of_data_providers_are_part_of_the_id_and_run_alone(self):
        worker = self.collected("Rows")
        self.assertEqual(worker.trace(), [])
        names = sorted(test[0].split("#")[1] for test in worker.tests)
        rows = ["small[0]", "small[1]", "small[2]"]
        self.assertEqual(names, ["plain", *rows, "sourceless", "twice"])
        self.assertEqual(outcomes(worker.run(["demo.Rows#small[2]"])), {"Rows#small[2]": "failed"})
        self.assertEqual(worker.trace(), ["before", "small 3"])
        found = outcomes(worker.run([f"demo.Rows#{row}" for row in rows]))
        self.assertEqual(list(found.values()), ["passed", "passed", "failed"])

    def test_a_test_with_a_count_is_one_test(self):
        worker = self.collected("Rows")
        worker.trace()
        self.assertEqual(outcomes(worker.run(["demo.Rows#twice"])), {"Rows#twice": "passed"})
        self.assertEqual(worker.trace().count("twice"), 2)

    def test_a_broken_data_provider_does_not_pass(self):
        worker = self.collected("Rows")
        result = worker.run(["demo.Rows#sourceless"])[0]
        self.assertIn(result["outcome"], ("errored", "skipped"))

    def test_broken_set_up_and_teardown_are_errors_of_their_phase(self):
        worker = self.collected("BrokenBefore", "BrokenAfter")
        before, after = worker.run(["demo.BrokenBefore#test", "demo.BrokenAfter#test"])
        self.assert_failure(before, "errored", "setup", "in before", "demo/BrokenBefore.java")
        self.assert_failure(after, "errored", "teardown", "in after", "demo/BrokenAfter.java")

    def test_when_a_class_cannot_be_set_up_all_its_tests_are_errors(self):
        worker = self.collected("BrokenOpening")
        results = worker.run(["demo.BrokenOpening#two", "demo.BrokenOpening#one"])
        for result in results:
            self.assert_failure(result, "errored", "setup", "in open", "demo/BrokenOpening.java")

    def test_when_a_class_cannot_be_torn_down_its_last_test_is_an_error(self):
        worker = self.collected("BrokenClosing")
        two, one = worker.run(["demo.BrokenClosing#two", "demo.BrokenClosing#one"])
        self.assertEqual(two["outcome"], "passed")
        self.assert_failure(one, "errored", "teardown", "in close", "demo/BrokenClosing.java")

    def test_a_class_that_cannot_be_made_is_a_problem_and_the_rest_goes_on(self):
        worker = self.worker("BrokenConstructor", "Missing", "AllAnnotated")
        ids = worker.collect()
        healthy = [each for each in ids if "Broken" not in each]
        self.assertEqual(healthy, [f"demo.AllAnnotated#{each}" for each in "abc"])
        places = [problem["place"] for problem in worker.problems]
        self.assertEqual(sorted(places), ["demo.BrokenConstructor", "demo.Missing"])

    def test_what_another_class_sets_up_for_the_suite_is_set_up(self):
        worker = self.collected("Surrounding", "AllAnnotated")
        worker.run(["demo.AllAnnotated#a"])
        self.assertEqual(worker.trace(), ["open suite", "a", "close suite"])
        worker.run(["demo.Surrounding#own"])
        self.assertEqual(worker.trace(), ["open suite", "own", "close suite"])

    def test_what_a_factory_makes_is_run_through_it(self):
        worker = self.collected("Factories")
        ids = [test[0] for test in worker.tests]
        self.assertEqual(sorted(ids), ["demo.Made#one", "demo.Made#two"])
        self.assertEqual(outcomes(worker.run(["demo.Made#two"])), {"Made#two": "passed"})
        self.assertEqual(sorted(worker.trace()), ["two 1", "two 2"])

    def test_groups_and_methods_choose_tests(self):
        for settings, expected in (
            ({"groups": "fast"}, ["passes"]),
            ({"excluded_groups": "fast", "methods": ["*#pass*", "*#urgent"]}, ["urgent"]),
        ):
            worker = self.worker("Plain", **settings)
            self.assertEqual([each.split("#")[1] for each in worker.collect()], expected)

    def test_known_tests_need_no_search(self):
        first = self.collected("Rows", "AllAnnotated")
        ids = ["demo.Rows#small[2]", "demo.AllAnnotated#b"]
        second = self.worker()
        second.collect(first.wanted(ids))
        found = outcomes(second.run(ids))
        self.assertEqual(found, {"Rows#small[2]": "failed", "AllAnnotated#b": "passed"})
        self.assertEqual(second.bye(), 0)

    def test_an_unknown_test_is_an_error_that_says_so(self):
        worker = self.worker()
        wanted = {"id": "demo.Plain#gone", "file": "testng:demo.Plain|demo.Plain|gone|-1|"}
        worker.collect([wanted])
        result = worker.run(["demo.Plain#gone"])[0]
        self.assert_failure(result, "errored", "setup", "did not run demo.Plain#gone")

    def test_the_test_that_ends_the_jvm_has_begun(self):
        worker = self.collected("Plain")
        worker.order(["demo.Plain#passes", "demo.Plain#exits"])
        worker.tell(**{"do": "run", "from": 0, "attempt": 1, "measure": False})
        said = []
        while (message := worker.hear()) is not None:
            said.append((message["say"], worker.tests[message["test"]][0]))
        self.assertIn(("result", "demo.Plain#passes"), said)
        self.assertEqual(said[-1], ("begins", "demo.Plain#exits"))
        self.assertEqual(worker.process.wait(timeout=60), 3)


for_versions(["testng6.8", "testng6.14", "testng7.5", "testng7.11"], Testng, globals())
