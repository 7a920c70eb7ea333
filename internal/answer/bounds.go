package answer

// BoundWidth is how many characters of a bound a table shows: an ObjectID and
// a hash fit.
const BoundWidth = 47
