package templates

import (
	"net/url"
	"strconv"
	"time"

	"github.com/a-h/templ"
)

func watchQuery(item string) string { return url.Values{"watch": {item}}.Encode() }

func watchedName(w Watched) string {
	if w.Bound == "" {
		return w.Name
	}
	return w.Name + " " + BoundKey(w.Bound).Short
}

// StepClass colours a step of a move; more steps than colours begin anew.
func StepClass(i int) string { return "step" + strconv.Itoa(i%8+1) }

// atAttr tells scripts which past time a page shows; nothing on a page of now.
func atAttr(t time.Time) templ.Attributes {
	if t.IsZero() {
		return nil
	}
	return templ.Attributes{"data-at": t.UTC().Format("2006-01-02T15:04:05.999Z")}
}

// ChunkAttr names the chunk that a row is about, for a script to find it.
func ChunkAttr(name string) templ.Attributes {
	if name == "" {
		return nil
	}
	return templ.Attributes{"data-chunk": name}
}
