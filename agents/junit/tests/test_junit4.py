"""The worker runs JUnit 3 and 4."""

from suite import for_versions
from worker import outcomes


class Junit4:
    framework = "junit4"

    def test_the_worker_says_who_it_is(self):
        hello = self.worker("Plain").hello
        self.assertEqual((hello["say"], hello["name"]), ("hello", "a name"))
        self.assertEqual((hello["token"], hello["protocol"]), ("a token", 4))
        self.assertTrue(hello["framework"].startswith("JUnit 4."), hello)

    def test_every_outcome_is_told_from_the_others(self):
        worker = self.collected("Plain")
        ids = [test[0] for test in worker.tests]
        self.assertEqual(len(ids), 6)
        results = worker.run(ids)
        found = outcomes(results)
        # JUnit 4.4 takes a broken assumption for a pass.
        assumed = "passed" if self.version == "junit4.4" else "skipped"
        self.assertEqual(
            {name.split("#")[1]: outcome for name, outcome in found.items()},
            {
                "passes": "passed",
                "fails": "failed",
                "assumes": assumed,
                "ignored": "skipped",
                "expects": "failed",
                "second": "passed",
            },
        )
        by_name = {result["id"]: result for result in results}
        self.assertEqual(by_name["Plain#ignored"]["note"], "not today")
        self.assert_failure(
            by_name["Plain#fails"], "failed", "call", "AssertionError", "demo/Plain.java"
        )
        self.assertIn("out\nerr", by_name["Plain#passes"]["output"])

    def test_a_class_is_set_up_once_for_tests_in_a_row_and_again_when_it_comes_back(self):
        worker = self.collected("Plain", "Rows")
        order = ["Plain#second", "Plain#passes", "Rows#positive[0]", "Plain#passes"]
        results = worker.run([f"demo.{each}" for each in order])
        self.assertEqual([result["id"] for result in results], order)
        around = ["open", "before", "second", "after", "before", "passes", "after", "close"]
        again = ["open", "before", "passes", "after", "close"]
        self.assertEqual(worker.trace(), [*around, "positive 1", *again])

    def test_methods_run_in_any_order(self):
        worker = self.collected("Plain", "Rows", "OldStyle")
        for order in (
            ["Plain#passes", "Plain#second"],
            ["Plain#second", "Plain#passes"],
            ["Rows#small[1]", "Rows#positive[0]", "Rows#positive[1]", "Rows#small[0]"],
            ["OldStyle#testTwo", "OldStyle#testOne"],
            ["Plain#passes", "Plain#passes"],
        ):
            results = worker.run([f"demo.{each}" for each in order])
            self.assertEqual([result["id"] for result in results], order)
            self.assertEqual({result["outcome"] for result in results}, {"passed"})

    def test_a_worker_pauses_after_a_group_that_had_a_failure(self):
        worker = self.collected("Plain", "OldStyle")
        worker.order(["demo.Plain#fails", "demo.Plain#passes", "demo.OldStyle#testOne"])
        worker.tell(**{"do": "run", "from": 0, "attempt": 1, "measure": False})
        first = worker.until_paused()
        self.assertEqual(len(first), 2)
        worker.tell(**{"do": "run", "from": 2, "attempt": 1, "measure": False})
        self.assertEqual(outcomes(worker.until_paused()), {"OldStyle#testOne": "passed"})

    def test_a_rerun_is_a_group_of_its_own_and_knows_its_attempt(self):
        worker = self.collected("Plain")
        results = worker.rerun("demo.Plain#second", attempt=7)
        self.assertEqual(outcomes(results), {"Plain#second": "passed"})
        self.assertIn("attempt 7", results[0]["output"])
        self.assertEqual(worker.trace(), ["open", "before", "second", "after", "close"])

    def test_broken_set_up_and_teardown_are_errors_of_their_phase(self):
        classes = ("BrokenBefore", "BrokenAfter", "BrokenConstructor")
        worker = self.collected(*classes)
        before, after, constructor = worker.run([f"demo.{each}#test" for each in classes])
        self.assert_failure(before, "errored", "setup", "in before", "demo/BrokenBefore.java")
        self.assert_failure(after, "errored", "teardown", "in after", "demo/BrokenAfter.java")
        if self.version != "junit4.4":
            self.assert_failure(constructor, "errored", "setup", "in the constructor")

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

    def test_junit_3_runs_too(self):
        worker = self.collected("OldStyle")
        results = worker.run([test[0] for test in worker.tests])
        by_name = {result["id"]: result for result in results}
        self.assertEqual(len(by_name), 4)
        self.assert_failure(by_name["OldStyle#testFails"], "failed", "call", "on purpose")
        broken = by_name["OldStyle#testBrokenSetUp"]
        self.assert_failure(broken, "errored", "setup", "in setUp")

    def test_parameters_are_part_of_the_id(self):
        worker = self.collected("Rows")
        ids = {test[0] for test in worker.tests}
        names = [f"{name}[{row}]" for name in ("small", "positive") for row in range(3)]
        self.assertEqual(ids, {f"demo.Rows#{name}" for name in names})
        results = worker.run(["demo.Rows#small[2]"])
        self.assertEqual(worker.trace(), ["small 3"])
        self.assertEqual(outcomes(results), {"Rows#small[2]": "failed"})

    def test_an_ignored_class_is_one_skipped_test(self):
        worker = self.collected("Ignored")
        ids = [test[0] for test in worker.tests]
        self.assertEqual(ids, ["demo.Ignored"])
        self.assertEqual(outcomes(worker.run(ids)), {"Ignored": "skipped"})

    def test_a_suite_runs_the_tests_of_its_classes(self):
        worker = self.collected("Whole", "BrokenClosing")
        ids = [test[0] for test in worker.tests]
        self.assertIn("demo.BrokenClosing#one{2}", ids)
        results = worker.run(["demo.OldStyle#testTwo", "demo.BrokenClosing#two"])
        self.assertEqual([each["outcome"] for each in results], ["passed", "errored"])

    def test_what_runs_unasked_is_said(self):
        worker = self.collected("Stubborn")
        result = worker.run(["demo.Stubborn#two"])[0]
        self.assertEqual(result["outcome"], "passed")
        self.assertIn("one(demo.Stubborn) ran as well", result["note"])

    def test_a_class_that_junit_refuses_is_an_error_like_under_the_build_tool(self):
        worker = self.collected("Invalid")
        results = worker.run([worker.tests[0][0]])
        self.assertIn(results[0]["outcome"], ("failed", "errored"))

    def test_a_class_that_cannot_be_loaded_is_a_problem_and_the_rest_goes_on(self):
        worker = self.worker("Missing", "Lacking", "NoTests", "BrokenAfter")
        self.assertEqual(worker.collect(), ["demo.BrokenAfter#test"])
        places = [problem["place"] for problem in worker.problems]
        self.assertEqual(places, ["demo.Missing", "demo.Lacking"])
        self.assertIn("demo/Gone", worker.problems[1]["text"].replace(".", "/"))

    def test_known_tests_need_no_search(self):
        first = self.collected("Plain", "Rows")
        wanted = first.wanted(["demo.Rows#small[2]", "demo.Plain#passes"])
        second = self.worker()
        self.assertEqual(second.collect(wanted), ["demo.Rows#small[2]", "demo.Plain#passes"])
        found = outcomes(second.run(["demo.Rows#small[2]", "demo.Plain#passes"]))
        self.assertEqual(found, {"Rows#small[2]": "failed", "Plain#passes": "passed"})

    def test_an_unknown_test_is_an_error_that_says_so(self):
        worker = self.worker()
        worker.collect(
            [
                {"id": "demo.Plain#gone", "file": "junit4:demo.Plain|0|gone(demo.Plain)"},
                {"id": "demo.Gone#gone", "file": "junit4:demo.Gone|0|gone(demo.Gone)"},
                {"id": "nonsense", "file": "nonsense"},
            ]
        )
        one, two, three = worker.run(["demo.Plain#gone", "demo.Gone#gone", "nonsense"])
        self.assert_failure(one, "errored", "setup", "did not run demo.Plain#gone")
        self.assert_failure(two, "errored", "setup", "NoClassDefFoundError: demo.Gone")
        self.assert_failure(three, "errored", "setup", "did not run nonsense")

    def test_the_test_that_ends_the_jvm_has_begun(self):
        worker = self.collected("Exits")
        worker.order(["demo.Exits#exits"])
        worker.tell(**{"do": "run", "from": 0, "attempt": 1, "measure": False})
        said = []
        while (message := worker.hear()) is not None:
            said.append((message["say"], worker.tests[message["test"]][0]))
        self.assertEqual(set(said), {("begins", "demo.Exits#exits")})
        self.assertEqual(worker.process.wait(timeout=60), 3)

    def test_errors_of_the_runtime_are_the_tests_failures(self):
        worker = self.collected("Exits")
        deep, lacking = worker.run(["demo.Exits#overflows", "demo.Exits#lacksClass"])
        self.assert_failure(deep, "failed", "call", "StackOverflowError")
        self.assertLess(len(deep["failure"]["text"]), 70_000)
        self.assert_failure(lacking, "failed", "call", "NoClassDefFoundError: some/Missing")

    def test_threads_and_streams_that_a_test_leaves_do_not_stop_the_worker(self):
        worker = self.collected("Exits", "OldStyle")
        order = ["demo.Exits#leavesThreadAndStreams", "demo.OldStyle#testOne"]
        self.assertEqual(set(outcomes(worker.run(order)).values()), {"passed"})
        self.assertEqual(worker.bye(), 0)

    def test_a_worker_without_a_listener_ends_even_in_a_test_that_hangs(self):
        worker = self.collected("Exits")
        worker.order(["demo.Exits#hangs"])
        worker.tell(**{"do": "run", "from": 0, "attempt": 1, "measure": False})
        self.assertEqual(worker.hear()["say"], "begins")
        worker.socket.shutdown(2)
        self.assertEqual(worker.process.wait(timeout=60), 0)

    def test_only_the_wanted_methods_are_collected(self):
        worker = self.worker("Plain", "Rows", methods=["demo.*#p*s", "demo.Rows#small"])
        rows = [f"demo.Rows#small[{row}]" for row in range(3)]
        self.assertEqual(sorted(worker.collect()), ["demo.Plain#passes", *rows])


class Categories:
    framework = "junit4"

    def test_categories_choose_tests(self):
        for groups, excluded, expected in (
            ("demo.Fast", "", ["fast"]),
            ("Fast, demo.Other", "", ["fast"]),
            ("!demo.Fast", "", ["slow"]),
            ("", "demo.VeryFast", ["slow"]),
            ("demo.Fast && (demo.Other || !demo.VeryFast)", "", []),
        ):
            with self.subTest(groups=groups, excluded=excluded):
                worker = self.worker("Categorised", groups=groups, excluded_groups=excluded)
                names = [each.split("#")[1] for each in worker.collect()]
                self.assertEqual(names, expected)

    def test_a_rule_that_fails_before_the_test_is_set_up(self):
        worker = self.collected("Categorised", properties=["break.resource=true"])
        result = worker.run(["demo.Categorised#fast"])[0]
        self.assert_failure(result, "errored", "setup", "in the rule", "demo/Categorised.java")

    def test_tests_of_the_same_name_are_told_apart(self):
        worker = self.collected("SameNames")
        ids = [test[0].split("#")[1] for test in worker.tests]
        self.assertEqual(
            sorted(ids),
            ["another[same]", "another[same]{2}", "another[same]{3}"]
            + ["small[same]", "small[same]{2}", "small[same]{3}"],
        )
        order = ["small[same]{3}", "another[same]{2}", "another[same]"]
        results = worker.run([f"demo.SameNames#{each}" for each in order])
        self.assertEqual(worker.trace(), ["small 3", "another 2", "another 1"])
        self.assertEqual([each["outcome"] for each in results], ["failed", "passed", "passed"])


for_versions(["junit4.4", "junit4.8", "junit4.12", "junit4.13"], Junit4, globals())
for_versions(["junit4.12", "junit4.13"], Categories, globals())
