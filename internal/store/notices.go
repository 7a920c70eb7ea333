package store

// Notices keeps dismissed advice, alerts and watches.
type Notices interface{}
