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

package io.github.advisorylock.sample.browser;

import java.util.List;

/**
 * How well the texts of a page can be read.
 */
final class Contrast {

	/**
	 * Texts with less contrast to what is behind them than WCAG's level AA asks for.
	 */
	private static final String SCRIPT = """
			const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
			function pixel(colour) {
			  canvas.clearRect(0, 0, 1, 1);
			  canvas.fillStyle = colour;
			  canvas.fillRect(0, 0, 1, 1);
			  return [...canvas.getImageData(0, 0, 1, 1).data];
			}
			function luminance(pixel) {
			  const parts = pixel.slice(0, 3).map((part) => part / 255)
			    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
			  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
			}
			function behind(element) {
			  for (let at = element; at; at = at.parentElement) {
			    const colour = pixel(getComputedStyle(at).backgroundColor);
			    if (colour[3] === 255) {
			      return colour;
			    }
			  }
			  return [255, 255, 255, 255];
			}
			function contrast(element) {
			  const style = getComputedStyle(element);
			  const two = [luminance(pixel(element.closest("svg") ? style.fill : style.color)), luminance(behind(element))];
			  return (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05);
			}
			return [...document.querySelectorAll("body *")]
			  .filter((element) => element.checkVisibility() && !["SCRIPT", "STYLE", "title"].includes(element.nodeName))
			  .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
			  .filter((element) => contrast(element) < 4.5)
			  .map((element) => contrast(element).toFixed(2) + " " + element.nodeName + " " + element.textContent)
			""";

	private static final String BRIGHTNESS = """
			return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]
			""";

	private Contrast() {
	}

	static List<String> tooLow(Chromium browser) {
		return ((List<?>) browser.run(SCRIPT)).stream().map(String::valueOf).toList();
	}

	/**
	 * Return how much red, from 0 to 255, the page has behind its texts.
	 */
	static int background(Chromium browser) {
		return ((Number) browser.run(BRIGHTNESS)).intValue();
	}

}
