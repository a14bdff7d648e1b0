package demo;

import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.ExternalResource;

public class Categorised {
    @Rule
    public final ExternalResource resource = new ExternalResource() {
        @Override
        protected void before() {
            if (Boolean.getBoolean("break.resource")) {
                throw new IllegalStateException("in the rule");
            }
        }
    };

    @Test
    @Category(VeryFast.class)
    public void fast() {}

    @Test
    public void slow() {}
}
