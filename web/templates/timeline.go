package templates

import (
	"time"

	"github.com/a-h/templ"

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

// atAttr tells scripts which past time a page shows; nothing on a page of now.
func atAttr(t time.Time) templ.Attributes {
	if t.IsZero() {
		return nil
	}
	return templ.Attributes{"data-at": t.UTC().Format("2006-01-02T15:04:05.999Z")}
}
