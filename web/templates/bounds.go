package templates

// boundWidth is how many characters of a bound a table shows: an ObjectID and
// a hash fit.
const boundWidth = 47

// BoundKey is a bound as people write it: short for the eye, full for the clipboard.
func BoundKey(text string) Key { return Cut(text, boundWidth) }
