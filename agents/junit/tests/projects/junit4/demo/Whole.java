package demo;

import org.junit.runner.RunWith;
import org.junit.runners.Suite;

@RunWith(Suite.class)
@Suite.SuiteClasses({BrokenClosing.class, OldStyle.class})
public class Whole {}
