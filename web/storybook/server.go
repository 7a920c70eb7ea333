package storybook

import (
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"shardboard/static"
	"shardboard/web/webtest"
)

// Prefix is the address of the index. A scene is at Prefix/NAME, with ?theme=light or ?theme=dark.
const Prefix = "/storybook"

// Handler serves the index, the scenes, the style sheets and scripts, and what the scripts of a scene
// read by GET: a request of a scene's page (by its Referer) is answered by that scene's site. Nothing can
// be changed, and scenes stand still: they open no socket.
func Handler() http.Handler {
	b := &book{scenes: map[string]webtest.Scene{}, sites: map[string]*webtest.Server{}}
	all := All()
	b.groups = groups(all)
	for _, sc := range all {
		b.scenes[sc.Name] = sc
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+Prefix, http.HandlerFunc(b.index))
	mux.Handle("GET "+Prefix+"/{name}", http.HandlerFunc(b.scene))
	mux.Handle("GET /{$}", http.RedirectHandler(Prefix, http.StatusFound))
	mux.Handle("GET "+static.Prefix, static.Handler())
	mux.Handle("GET /api/", http.HandlerFunc(b.dataOfScene))
	return mux
}

type book struct {
	scenes map[string]webtest.Scene
	groups []group

	mu    sync.Mutex
	sites map[string]*webtest.Server // by scene, made at first use
}

func (b *book) index(w http.ResponseWriter, r *http.Request) {
	secure(w)
	if err := indexPage(components(), b.groups, themeOf(r)).Render(r.Context(), w); err != nil {
		log.Print(err)
	}
}

func (b *book) scene(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if c := componentNamed(name); c != nil {
		secure(w)
		if err := componentPage(*c, themeOf(r)).Render(r.Context(), w); err != nil {
			log.Print(err)
		}
		return
	}
	sc, ok := b.scenes[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	answer := b.site(sc).Do("GET", sc.Path, sc.Ask...)
	for key, values := range answer.Header() {
		w.Header()[key] = values
	}
	w.Header().Set("Referrer-Policy", "same-origin") // says which scene a script belongs to
	w.Header().Del("Content-Length")
	w.Header().Del("Refresh") // the page before single sign-on would leave for the provider
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, Still(answer.Body.String(), themeOf(r)))
}

// dataOfScene answers what a scene's script asks for.
func (b *book) dataOfScene(w http.ResponseWriter, r *http.Request) {
	_, name, _ := strings.Cut(r.Referer(), Prefix+"/")
	name, _, _ = strings.Cut(name, "?")
	sc, ok := b.scenes[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	r.Host = "localhost:8090" // by which the scene's site may be reached
	b.site(sc).Handler().ServeHTTP(w, r)
}

func (b *book) site(sc webtest.Scene) *webtest.Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sites[sc.Name] == nil {
		b.sites[sc.Name] = sc.Serve(reporter{})
	}
	return b.sites[sc.Name]
}

// topics is the attribute that makes a page open a socket.
var topics = regexp.MustCompile(` data-topics="[^"]*"`)

// Still is a page that opens no socket, in a theme.
func Still(html, theme string) string {
	html = topics.ReplaceAllString(html, "")
	if theme == "" {
		return html
	}
	// theme.js would set what the browser remembers.
	html = strings.Replace(html, `<script src="`+static.URL("js/theme.js")+`"></script>`, "", 1)
	return strings.Replace(html, "<html ", `<html class="js" data-theme="`+theme+`" `, 1)
}

func themeOf(r *http.Request) string {
	if t := r.URL.Query().Get("theme"); t == "light" || t == "dark" {
		return t
	}
	return ""
}

func secure(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'self'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// reporter is where a scene's site reports what a test would fail for.
type reporter struct{ testing.TB }

func (reporter) Helper()                      {}
func (reporter) Error(args ...any)            { log.Print(args...) }
func (reporter) Errorf(f string, args ...any) { log.Printf(f, args...) }
func (reporter) Fatal(args ...any)            { log.Panic(args...) }
func (reporter) Fatalf(f string, args ...any) { log.Panicf(f, args...) }
