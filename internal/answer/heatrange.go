package answer

// shownWriters is how many projects and documents of a range are named.
const ShownWriters = 10

func First[T any](all []T, n int) []T { return all[:min(len(all), n)] }
