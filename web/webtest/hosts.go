package webtest

import "shardboard/web/site"

// WithHosts is an option of New: the names that the site may be reached by.
func WithHosts(d *site.Deps) { d.Access.Hosts = []string{"board.example", "other.example:9999"} }

// ForeignOrigins are values of the header Origin that no page of ours sends.
var ForeignOrigins = []string{
	"", "null", "https://evil.example", "http://evil.example", "http://localhost", "http://localhost:8091", "https://localhost:8090",
	"http://127.0.0.1:8090",
	"http://[::1]:8090", "http://localhost:8090/", "http://localhost:8090/live", "http://localhost:8090.evil.example",
	"http://localhost:8090@evil.example",
	"http://evil.example@localhost:8090", "http://localhost:80900", "http://localhost:08090", "HTTP://localhost:8090",
	"http://LOCALHOST:8090", "http:localhost:8090",
	"//localhost:8090", "localhost:8090", "ws://localhost:8090", "file://", "file:///localhost:8090", "http://sub.localhost:8090",
	"http://localhost.:8090",
	"http://localhost:8090 ", " http://localhost:8090", "http://localhost:8090,http://evil.example",
	"http://localhost:8090 http://evil.example",
	"chrome-extension://localhost:8090", "http://localhost%3a8090", "http://localhost:8090#", "http://localhost:8090?x",
	"data:text/html,x", "http://", "http://:8090",
}
