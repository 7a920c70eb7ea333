package guard

import (
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/sanitize"
)

// hostChecked refuses requests whose Host is not ours. An origin check alone
// does not stop DNS rebinding: there the hostile page's own name resolves to
// the loopback address, and only the Host header still tells the name.
func (g *Guard) hostChecked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case g.hostAllowed(r.Host):
			next.ServeHTTP(w, r)
		case probes(r):
			answerProbe(w, r, next)
		default:
			g.warnHost(r.Host)
			g.refuseHost(w, r)
		}
	})
}

// probes tells whether a request is a health check. Balancers send them to an address, or without a Host.
func probes(r *http.Request) bool {
	return (r.URL.Path == "/healthz" || r.URL.Path == "/readyz") && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// answerProbe answers a health check under a foreign host name by its status and one word: a page whose own name
// resolves to this address could read it.
func answerProbe(w http.ResponseWriter, r *http.Request, next http.Handler) {
	p := &probe{header: http.Header{}}
	next.ServeHTTP(p, r)
	word := "unavailable\n"
	if p.status < http.StatusBadRequest {
		p.status, word = http.StatusOK, "ok\n"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, word)
}

// probe keeps the status of an answer and drops the rest.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header { return p.header }

func (p *probe) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

func (p *probe) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return len(b), nil
}

// warnHost logs a refused host name with what would let it pass.
func (g *Guard) warnHost(host string) {
	advice := "let the proxy pass the host name on that browsers use (nginx: proxy_set_header Host $http_host)"
	if name, ok := hostName(host); ok {
		advice += ", or add --host " + sanitize.Line(sanitize.Truncate(name, 100))
	}
	g.warnings[0].Do(func() {
		g.Log.Warn("refused a request under a foreign host name", "host", sanitize.Line(sanitize.Truncate(host, 200)),
			"expected", strings.Join(append([]string{"localhost"}, g.Hosts...), ", "), "set", advice)
	})
}

// refuseHost says little on purpose: whoever asks under a foreign name sees
// nothing of the cluster, not even the page's frame.
func (g *Guard) refuseHost(w http.ResponseWriter, r *http.Request) {
	text := g.foreignHost()
	if WantsJSON(r) {
		body, _ := json.Marshal(api.NewProblem(http.StatusMisdirectedRequest, text, r.URL.EscapedPath())) // strings and a number
		w.Header().Set("Content-Type", api.ProblemType)
		w.WriteHeader(http.StatusMisdirectedRequest)
		_, _ = w.Write(body)
		return
	}
	http.Error(w, text, http.StatusMisdirectedRequest)
}

// foreignHost says what to do by where this server is: loopback's names are of
// use on this machine only, and a demo has no other.
func (g *Guard) foreignHost() string {
	const refused = "This server does not answer under the host name of this request. "
	switch {
	case g.Exposed:
		return refused + "Use the address that it printed at its start. Other names are added with --public-url or --host."
	case g.Demo:
		return refused + "Use localhost or 127.0.0.1."
	}
	return refused + "Use localhost or 127.0.0.1. Other names are added with --public-url or --host."
}

// hostAllowed accepts loopback under any port, and the configured hosts.
func (g *Guard) hostAllowed(host string) bool {
	name, ok := hostName(host)
	return ok && (loopback(name) || g.hostConfigured(host, name))
}

func (g *Guard) hostConfigured(host, name string) bool {
	for _, allowed := range g.Hosts {
		if strings.EqualFold(host, allowed) || strings.EqualFold(name, allowed) {
			return true
		}
	}
	return false
}

// hostName takes the port off a Host value. A value that is not exactly a
// name or bracketed address with an optional port is refused, never repaired.
func hostName(host string) (name string, ok bool) {
	name, port := host, ""
	switch i := strings.LastIndexByte(host, ':'); {
	case strings.HasPrefix(host, "["):
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return "", false
		}
		name = host[1:end]
		if addr, err := netip.ParseAddr(name); err != nil || !addr.Is6() {
			return "", false
		}
		if rest := host[end+1:]; rest != "" {
			if rest[0] != ':' {
				return "", false
			}
			port = rest[1:]
			if port == "" {
				return "", false
			}
		}
	case i >= 0:
		name, port = host[:i], host[i+1:]
		if port == "" || strings.Contains(name, ":") {
			return "", false
		}
	}
	if port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return "", false
		}
	}
	return name, name != ""
}

// loopback accepts localhost, 127.0.0.0/8 and ::1 as written by browsers. An
// IPv4 address inside IPv6 or one with a zone is no spelling of anybody's own.
func loopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Zone() == "" && !addr.Is4In6() && addr.IsLoopback()
}
