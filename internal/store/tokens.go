package store

// Tokens keeps keys of scripts.
type Tokens interface{}
