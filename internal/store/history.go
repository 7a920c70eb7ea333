package store

// History keeps how placement looked before.
type History interface{}
