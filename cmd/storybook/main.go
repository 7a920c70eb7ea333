// Command storybook serves every page and every shared component of the dashboard in every state, over
// canned data, to be looked at while styles and templates are changed. It is a development tool: the
// program that people install has none of it.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"shardboard/web/storybook"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8091", "address to serve; nobody is asked to sign in, so keep it local")
	flag.Parse()
	ln, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Storybook: http://%s%s\n", ln.Addr(), storybook.Prefix)
	server := &http.Server{Handler: storybook.Handler(), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(ln))
}
