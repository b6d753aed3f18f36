"use strict";
const search = document.getElementById("search");
const found = document.getElementById("found");
const entries = [...document.querySelectorAll(".failure, .requirement")];
search.closest("label").hidden = false;
search.form.addEventListener("submit", (event) => event.preventDefault());
search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  for (const entry of entries) entry.hidden = !entry.textContent.toLowerCase().includes(wanted);
  for (const section of document.querySelectorAll(".section")) section.hidden = !section.querySelector(":scope > :is(.failure, .requirement):not([hidden])");
  const requirements = entries.filter((entry) => entry.matches(".requirement") && !entry.hidden).length;
  found.textContent = wanted ? `${requirements} requirement${requirements === 1 ? "" : "s"} found` : "";
});
