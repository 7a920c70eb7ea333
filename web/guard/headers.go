package guard

import (
	"net/http"
)

// contentPolicy allows our own scripts, styles, images and socket, and
// nothing else: no inline code, no frame, no third party.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// permissions denies the browser features that a page of tables cannot need.
const permissions = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), " +
	"microphone=(), midi=(), payment=(), usb=()"

// strictTransport keeps browsers on https for a year. Subdomains are somebody
// else's to decide about.
const strictTransport = "max-age=31536000"

// Secured sets the headers that every answer has, errors and refusals too.
func (g *Guard) Secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
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
