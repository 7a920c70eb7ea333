package guard

import (
	"net/http"
	"strings"
)

// contentPolicy allows our own scripts, styles, images and socket, and
// nothing else: no inline code, no third party. Whose page may show ours in a frame comes after it.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "

// permissions denies the browser features that a page of tables cannot need.
const permissions = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), " +
	"microphone=(), midi=(), payment=(), usb=()"

// strictTransport keeps browsers on https for a year. Subdomains are somebody
// else's to decide about.
const strictTransport = "max-age=31536000"

// Secured sets the headers that every answer has, errors and refusals too.
func (g *Guard) Secured(next http.Handler) http.Handler {
	policy := contentPolicy + "'none'"
	if len(g.FrameAncestors) > 0 {
		policy = contentPolicy + strings.Join(g.FrameAncestors, " ")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		if len(g.FrameAncestors) == 0 { // it cannot name others, so with a list it would contradict
			h.Set("X-Frame-Options", "DENY")
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", permissions)
		h.Set("Cache-Control", "no-store") // static files say otherwise
		if g.TLS {
			h.Set("Strict-Transport-Security", strictTransport)
		}
		next.ServeHTTP(w, r)
	})
}
