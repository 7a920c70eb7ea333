package help

import (
	"net/http"

	"shardboard/web/site"
)

// proxySetting is what lets a proxy pass WebSockets.
type proxySetting struct{ Proxy, Text string }

// proxySettings are those of docs/install.md.
var proxySettings = []proxySetting{
	{"nginx", "proxy_http_version 1.1;\nproxy_set_header Upgrade $http_upgrade;\nproxy_set_header Connection $connection_upgrade;\n" +
		"# in http { }: map $http_upgrade $connection_upgrade { default upgrade; '' close; }"},
	{"Apache", "# 2.4.47 or later, with mod_proxy_http\nProxyPass / http://127.0.0.1:8090/ upgrade=websocket"},
	{"HAProxy", "timeout tunnel 1h"},
	{"Traefik, Caddy", "nothing: they pass WebSockets"},
	{"a load balancer of AWS, GCP or Azure", "an HTTP listener (not a classic one), with an idle timeout of 60 s or more"},
}

// WebSockets says what to set where a proxy does not pass them.
func WebSockets(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	sh := s.Shell(r, s.ViewFor(r), "help", "WebSockets")
	return site.WritePage(w, r, http.StatusOK, websocketsPage(sh, proxySettings))
}
