package guard

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/auth"
	"shardboard/internal/store/audit"
)

// Options are what a Guard knows of the server and of the site behind it.
type Options struct {
	Auth   Authenticator
	Hosts  []string // Host values allowed besides loopback: "name" (any port) or "name:port"
	Origin string   // of the address that browsers use, as https://name; "" when none is configured
	Log    *slog.Logger
	TLS    bool // browsers come over https, ours or a proxy's
	// FrameAncestors are the origins whose pages may show ours in a frame, and 'self'; none may without it.
	FrameAncestors []string
	Exposed        bool // others than this machine can connect
	Demo           bool
	Now            func() time.Time
	Refusals       *audit.Refusals
	Cluster        func() string // id of the cluster that is shown, for the audit record
	Site           Site
	Sees           func(auth.Principal) bool // whether somebody may see the cluster at all; nil: everybody may
	Nowhere        http.Handler              // answers those who may not, as if there were no such cluster
	Limits         *Limits                   // shared by the sites of several clusters; nil makes some
}

// Site is what stands behind a Guard: it answers those who are refused, and knows its
// addresses.
type Site interface {
	Fail(w http.ResponseWriter, r *http.Request, err error)
	FailWith(w http.ResponseWriter, r *http.Request, status int, text string)
	LocalPage(address string) string
	Address(local string) string // with what precedes the addresses of this site
	// RuleAt is the rule of the route at a path, and the id in it; the zero Rule when
	// there is none.
	RuleAt(method, path string) (rt Rule, id string)
}

// Rule is what a Guard has to know of a route.
type Rule struct {
	Method, Pattern string
	Policy          Policy
	Unasked         bool // health and files: who asks is not even looked up
}

// Guard lets requests pass or refuses them. Safe for concurrent use.
type Guard struct {
	Options
	warnings [2]rate.Sometimes // about hosts and origins
}

// New makes a Guard; without Limits it has its own.
func New(o Options) *Guard {
	if o.Limits == nil {
		o.Limits = NewLimits(o.Now)
	}
	g := &Guard{Options: o}
	for i := range g.warnings {
		g.warnings[i] = rate.Sometimes{First: 3, Interval: 10 * time.Minute} // strangers do not decide how much is logged
	}
	return g
}

// Outside puts the checks that need no route around the router. The host is checked
// before anything that trusts it.
func (g *Guard) Outside(router http.Handler) http.Handler {
	var cross http.CrossOriginProtection
	if g.Origin != "" {
		if err := cross.AddTrustedOrigin(g.Origin); err != nil {
			panic("web: " + err.Error()) // it was checked at the start
		}
	}
	cross.SetDenyHandler(http.HandlerFunc(g.refuseForeign))
	return g.hostChecked(g.originChecked(cross.Handler(router)))
}

// WantsJSON tells whether an error goes to a script: everything under /api,
// the health probes, and whoever asks for JSON and not for HTML.
func WantsJSON(r *http.Request) bool {
	path := r.URL.Path
	if rest, ok := strings.CutPrefix(path, "/c/"); ok { // of a cluster, whether there is one of that name or not
		_, within, _ := strings.Cut(rest, "/")
		path = "/" + within
	}
	if path == "/api" || strings.HasPrefix(path, "/api/") || path == "/live" || path == "/healthz" || path == "/readyz" || path == "/metrics" {
		return true
	}
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}
