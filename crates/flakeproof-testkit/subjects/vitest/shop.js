/** What the test called touches calls. */
export const price = () => 40;
