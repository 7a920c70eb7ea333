package store

// Users keeps people who may come in.
type Users interface{}
