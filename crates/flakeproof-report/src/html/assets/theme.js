// The theme is the system's unless the reader chose one, where the browser lets that be kept.
try {
  const chosen = localStorage.getItem('flakeproof-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  /* storage is not allowed: the system's theme it is */
}
document.documentElement.classList.add('script');
