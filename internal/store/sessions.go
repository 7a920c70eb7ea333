package store

// Sessions keeps who is in now.
type Sessions interface{}
