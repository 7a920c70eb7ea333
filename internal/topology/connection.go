package topology

import (
	"slices"
	"time"
)

// Connection is how the cluster is reached, as the driver knows it without asking.
type Connection struct {
	Address   string     // hosts of the address, without secrets
	Endpoints []Endpoint // mongos of the address, by name; none until the name of a mongodb+srv address is resolved
	FileError string     // why the newest content of the address file is not in use, a sentence; "" when it is
	Replaced  time.Time  // when changed credentials or certificates were last taken over; zero: not since the start
}

// Endpoint is one mongos of the address.
type Endpoint struct {
	Address string
	Up      bool
	Since   time.Time // since when it is up, or down; zero: not asked yet
	Reason  string    // cause and remedy while it is down; a sentence
}

func (c Connection) same(o Connection) bool {
	return c.Address == o.Address && c.FileError == o.FileError && c.Replaced.Equal(o.Replaced) && slices.Equal(c.Endpoints, o.Endpoints)
}

// Down are the endpoints that do not answer.
func (c Connection) Down() (list []Endpoint) {
	for _, e := range c.Endpoints {
		if !e.Up && !e.Since.IsZero() {
			list = append(list, e)
		}
	}
	return list
}
