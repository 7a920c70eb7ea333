package topology

import "time"

// Identity is who a connection is to the cluster and what that may do, as the
// cluster tells. No users and no grants is what a cluster without access control
// says too, which lets anybody do anything.
type Identity struct {
	Users  []string // "name@database"
	Roles  []string // the same of their roles, inherited ones included
	Grants []Grant  // of all roles together, inherited ones included
}

// Grant is some actions on one resource.
type Grant struct {
	On      Resource
	Actions []string // "anyAction" stands for all
}

// Resource is what a privilege is about, by the rules of MongoDB's privilege
// documents: an empty database or collection stands for every normal one.
type Resource struct {
	Cluster    bool // the cluster as a whole
	Any        bool // anything at all
	Other      bool // of a kind that nothing here asks for, such as time-series buckets
	DB         string
	Collection string
}

// Clock is one reading of the mongos's clock.
type Clock struct {
	Theirs          time.Time // zero: it did not say
	Asked, Answered time.Time // by ours
}

// Ahead is how far their clock is ahead of ours, give or take half of the time
// that asking took and the millisecond that theirs is told to.
func (c Clock) Ahead() (ahead, plusMinus time.Duration) {
	half := c.Answered.Sub(c.Asked) / 2
	return c.Theirs.Sub(c.Asked.Add(half)), half + time.Millisecond
}
