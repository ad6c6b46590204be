// "Copy the query": what stands in the block above the button.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected: copy it with Ctrl-C";
  }
  setTimeout(() => (button.textContent = "Copy the query"), 2000);
});
