package operation

// Kind is the name of a kind of change in the API and on the command line. What a kind is, package actions knows.
type Kind string
