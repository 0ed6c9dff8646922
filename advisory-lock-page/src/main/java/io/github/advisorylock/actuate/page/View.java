/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package io.github.advisorylock.actuate.page;

import java.time.Duration;
import java.util.List;

import io.github.advisorylock.actuate.AdvisoryLocksSource;
import org.jspecify.annotations.Nullable;

/**
 * What one view of the page shows.
 *
 * @param title its title
 * @param about who tells it
 * @param content what is below the title
 */
record View(String title, About about, Html content) {

	/**
	 * A section with a heading.
	 */
	static Html section(String id, Object heading, Html content) {
		return Html.of("<section id=\"%s\" aria-labelledby=\"%s-title\"><h2 id=\"%s-title\">%s</h2>%s</section>", id,
				id, id, heading, content);
	}

	/**
	 * A cell of a table, which is told by its label where the table is narrow.
	 */
	static Html cell(String name, String label, @Nullable Object content) {
		return Html.of("<td class=\"%s\" data-label=\"%s\">%s</td>", name, label, content);
	}

	/**
	 * A table.
	 * @param labels the heading of each column
	 */
	static Html table(String id, String caption, List<String> labels, Html rows) {
		return Html.of("<table id=\"%s\"><caption>%s</caption><thead><tr>%s</tr></thead><tbody>%s</tbody></table>", id,
				caption, Html.each(labels, (label) -> Html.of("<th scope=\"col\">%s</th>", label)), rows);
	}

	/**
	 * A word with a symbol and a colour of its own.
	 */
	static Html badge(String kind, Object text) {
		return Html.of("<span class=\"badge %s\">%s%s</span>", kind, icon(kind), text);
	}

	static Html icon(String name) {
		return Html.of("<svg class=\"icon\" aria-hidden=\"true\"><use href=\"#i-%s\"/></svg>", name);
	}

	static Html option(String value, String text, boolean selected) {
		return Html.of("<option value=\"%s\"%s>%s</option>", value, selected ? " selected" : "", text);
	}

	/**
	 * Links to the pages of a table.
	 * @param query what is shown
	 * @param pages how many there are
	 */
	static Html pages(PageQuery query, int pages) {
		if (pages <= 1) {
			return Html.NONE;
		}
		int page = query.page();
		return Html.of("<nav class=\"pages\" aria-label=\"Pages\">%s%s<span>Page %s of %s</span>%s%s</nav>",
				page(query, 1, page > 1, "First"), page(query, page - 1, page > 1, "Previous"), page, pages,
				page(query, page + 1, page < pages, "Next"), page(query, pages, page < pages, "Last"));
	}

	private static Html page(PageQuery query, int page, boolean exists, String text) {
		return exists ? Html.of("<a href=\"%s\">%s</a>", query.with("page", page), text)
				: Html.of("<span class=\"off\">%s</span>", text);
	}

	/**
	 * What views are made from.
	 *
	 * @param source knows jobs and locks
	 * @param query what is asked for
	 * @param rows how many jobs are in a table at a time
	 * @param timeline how far a timeline goes back, unless that is asked for
	 * @param links lead to what others know of a run
	 * @param writable whether there are buttons
	 * @param showValues whether values may be seen
	 */
	record Context(AdvisoryLocksSource source, PageQuery query, int rows, Duration timeline, RunLinks links,
			boolean writable, boolean showValues) {

	}

}
