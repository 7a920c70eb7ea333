package store

// Journal keeps plans, runs and intents.
type Journal interface{}
