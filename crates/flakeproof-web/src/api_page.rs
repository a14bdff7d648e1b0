//! The API's description as a page: whole in itself, without a script.

use std::fmt::Write as _;

use serde_json::Value;

use crate::Route;
use crate::description::{Description, Reply};

/// What stands above the addresses.
const TOP: &str = include_str!("api.html");

/// The page.
pub(crate) fn api_page(open_api: &Value) -> String {
    let mut page = TOP.to_owned();
    for route in Route::ALL {
        section(&mut page, route, open_api);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn section(page: &mut String, route: Route, open_api: &Value) {
    let description = Description::of(route);
    let (path, summary) = (escaped(route.path()), escaped(description.summary));
    let _ = writeln!(page, "<section>\n<h2><code>{path}</code></h2>\n<p>{summary}.</p>");
    if !description.parameters.is_empty() {
        page.push_str("<dl>\n");
        for parameter in &description.parameters {
            let (name, what) = (escaped(parameter.name), escaped(parameter.what));
            let schema = escaped(&parameter.schema.to_string());
            let _ = writeln!(
                page,
                "<dt><code>{name}</code></dt><dd>{what}. <code>{schema}</code></dd>"
            );
        }
        page.push_str("</dl>\n");
    }
    match description.reply {
        Reply::Document(name) => {
            let schema = &open_api["components"]["schemas"][name];
            let schema = escaped(&format!("{schema:#}"));
            let _ =
                writeln!(page, "<details><summary>Schema</summary><pre>{schema}</pre></details>");
        }
        Reply::Page | Reply::Elsewhere => {}
    }
    page.push_str("</section>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_address_and_loads_nothing() {
        let page = api_page(&crate::open_api());
        for route in Route::ALL {
            assert!(page.contains(&format!("<code>{}</code>", route.path())), "{route:?}");
        }
        for loading in ["<script", "<img", "src=", "url(", "@import", "//"] {
            assert!(!page.contains(loading), "{loading}");
        }
    }
}
