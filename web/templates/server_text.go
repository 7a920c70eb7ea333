package templates

import (
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/sanitize"
)

// How many bytes of a server's text a page shows at once, and how many it has at
// all; the API has every text whole.
const (
	ServerTextShown = 240
	serverTextWhole = 8000
)

// ServerText is what a server wrote, with a name before it.
type ServerText struct {
	Label, Text string
	Short       string // what is seen at first; "" = all of Text
}

// NewServerText prepares a server's text for a page; nil if there is none. What
// is cut keeps numbers, ids and bounds whole, and all of it is one click away.
func NewServerText(label, text string) *ServerText {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	whole := sanitize.Sentence(sanitize.Shorten(text, serverTextWhole))
	out := &ServerText{Label: label, Text: whole}
	if short := sanitize.Shorten(whole, ServerTextShown); short != whole {
		out.Short = short
	}
	return out
}

// serverReason is the server's own text of a failure.
func serverReason(f api.FailureReason) *ServerText {
	if f.ReasonFrom == "run" {
		return NewServerText("The answer to the run's command:", f.Reason)
	}
	return NewServerText("The server:", f.Reason)
}
