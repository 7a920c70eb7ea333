package api

import "time"

// LocalityID is a locality UUID and what it consists of.
type LocalityID struct {
	ID string `json:"id"`
	// Mode is default or sequential. Of an id that was given it is unknown where no start of its day is shortly before
	// the counter: such ids are usually of the default mode.
	Mode    string    `json:"mode"`
	Counter uint32    `json:"counter"` // in sequential mode as written, else with its digits read backwards
	Written uint32    `json:"written"` // the first eight digits as they are written
	Process uint16    `json:"process"`
	MAC     string    `json:"mac"`  // the last 28 bits of a MAC address
	Time    time.Time `json:"time"` // to the millisecond

	UnixMillis int64 `json:"unixMillis"` // the time as it is written: milliseconds since 1970

	// Of sequential mode: the beginning of the ten minutes that the counter began in, and how far it has come since.
	Window *time.Time `json:"window,omitempty"`
	Number *int       `json:"number,omitempty"`
}
