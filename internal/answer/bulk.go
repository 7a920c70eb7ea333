package answer

// queryDigits is how much of a line the table shows.
const QueryDigits = 48
