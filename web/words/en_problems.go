package words

// problems are the labels of lists of problems.
var problems = map[string]string{}
