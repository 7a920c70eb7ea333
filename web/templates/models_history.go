package templates

import (
	"encoding/json"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/message"
)

// TimeBar is what leads a page through time. The zero value is none: the page
// is of now only, or no history is kept.
type TimeBar struct {
	On      bool
	At      time.Time       // zero: the page shows now
	Looking message.Message // "You are looking at …", of a past time
	Notes   []api.State     // what may be missing, and what is not of that time
	NowURL  string
	Action  string // the page's own address without query
	Keep    []Option
	Input   string // the field's value
	Latest  string // and its greatest

	Prev, Next, PrevFailure, NextFailure string // addresses that lead on
	Compare                              string

	Spans    []TimeSpan
	From, To Moment // of the picture
	Ticks    []TimeTick
	Here     string // where At is, as a percentage
	Summary  string // of the picture, for those who do not see it
}

// TimeSpan is a choice of how much time the picture shows.
type TimeSpan struct {
	Text, URL string
	Current   bool
}

// TimeTick is a part of the picture's time in which something happened.
type TimeTick struct {
	X, W, Y, H string
	Failed     bool
	Title      string
}

// Watching is what is watched and where it is now.
type Watching struct {
	Items []Watched
	Page  bool // the list is the page itself
}

// Watched is a chunk or a project that is watched.
type Watched struct {
	api.Watched
	Where []ShardRef // all that hold a part of it
	Drop  string     // address without it
}

// spaces tells scripts which shards hold the thing: a JSON array of [namespace, shard, …].
func (w Watched) spaces() string {
	if w.Gone != "" {
		return ""
	}
	list := [][]string{}
	for _, h := range w.Holders {
		list = append(list, append([]string{h.NS}, h.Shards...))
	}
	out, err := json.Marshal(list)
	if err != nil {
		return "" // strings only: cannot be
	}
	return string(out)
}
