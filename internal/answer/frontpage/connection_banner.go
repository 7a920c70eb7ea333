package frontpage

import (
	"errors"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ConnectionBanner is the code of the banner of a cluster that is not read.
const ConnectionBanner = "connection"

// ConnectionBannerOf says on every page that the cluster is not read: what pages show then, why, and
// what still works. past is for a page of the past, which needs only the first. It is zero while the
// cluster answers, or failed to for a moment only.
func ConnectionBannerOf(t *topology.Table, past bool, now time.Time) message.Message {
	state, h := answer.ConnectionState(t), answer.ReadingHealth(t)
	title := answer.ConnectionTitles[state]
	if state == "reading" && !t.Saved.IsZero() && !past && now.Sub(t.Began) >= bannerAfter {
		return message.New(ConnectionBanner, "Pages show the cluster as of {at}, when that was saved; it is being verified. "+
			"Until it is, nothing can be planned or run.", message.Time("at", t.Saved))
	}
	if title == "" || state == "lost" && t.Saved.IsZero() && now.Sub(h.At) < bannerAfter {
		return message.Message{}
	}
	facts := []message.Fact{message.Words("title", title), message.Time("began", t.Began), message.Time("at", h.At),
		message.Words("reason", fault.Brief(h.Err))}
	if h.Denied {
		facts[3] = message.Words("reason", answer.DenialHelp(h))
	}
	var other *topology.OtherClusterError
	pattern := ""
	switch {
	case errors.As(h.Err, &other):
		facts = append(facts, message.Text("found", other.Found), message.Text("watched", other.Watched))
		pattern = "{title}: {found}. Pages show {watched}, as it was at {at}, and nothing is sent to the other one. If the change is " +
			"meant, restart shardboard; if not, correct the address, its DNS record or the mongos."
	case past && !t.IsRead():
		pattern = "{title}, so this recorded past is all that is known of it."
	case past:
		pattern = "{title}; it was last read at {at}."
	case !t.Loaded:
		pattern = "{title}: never since the start of shardboard at {began}, so nothing of now is known. {reason} Runs, the audit record " +
			"and accounts can be looked at."
	default:
		pattern = "{title}. Pages show it as it was at {at}. {reason} Until it answers, nothing can be planned or run; open runs wait."
	}
	return message.New(ConnectionBanner, pattern, facts...)
}

// bannerAfter is how long a cluster may fail to answer before every page says so. The status in the
// header says it at once.
const bannerAfter = 15 * time.Second
