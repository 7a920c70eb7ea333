package alert

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
)

// The formats of messages.
const (
	Generic      = "generic"
	Slack        = "slack"
	Alertmanager = "alertmanager"
	PagerDuty    = "pagerduty"
)

const (
	maxConfig  = 64 << 10
	maxTargets = 20

	defaultFor    = 2 * time.Minute
	defaultRepeat = 4 * time.Hour
	// Alertmanager resolves alerts that are not sent again, and limits repetition itself.
	alertmanagerRepeat = time.Minute
	leastRepeat        = 30 * time.Second
)

// secret returns an address. It is a function because fmt, slog and JSON print no
// content of a function.
type secret func() string

func newSecret(address string) secret { return func() string { return address } }

// Target is one receiver. Its address is not readable from outside.
type Target struct {
	Name        string
	Format      string
	MinSeverity Severity
	Repeat      time.Duration
	to          secret
	key         secret // PagerDuty's routing key; nil for other formats
}

// At is a copy whose links lead to the pages below a base, such as /c/name.
func (c *Config) At(base string) *Config {
	out := *c
	if out.Link != "" && !strings.HasSuffix(out.Link, base) {
		out.Link += base
	}
	return &out
}

// Config says which receivers get which alerts.
type Config struct {
	For     time.Duration // how long a problem must exist, and then be gone, before a message
	Link    string        // begin of the addresses of our pages; "": messages have no links
	Targets []Target

	inline bool // addresses are in the file itself, which makes it a secret
}

type file struct {
	For     string `yaml:"for"`
	Link    string `yaml:"link"`
	Targets []struct {
		Name        string `yaml:"name"`
		Format      string `yaml:"format"`
		URL         string `yaml:"url"`
		URLFile     string `yaml:"url_file"`
		URLEnv      string `yaml:"url_env"`
		KeyFile     string `yaml:"key_file"`
		KeyEnv      string `yaml:"key_env"`
		MinSeverity string `yaml:"min_severity"`
		Repeat      string `yaml:"repeat"`
	} `yaml:"targets"`
}

// Read reads an alerts file; docs/alerts.md is its schema. One that others may
// write is refused, and one that others may read where it has addresses itself.
// Errors are fault.Invalid, one line, and hold no address.
func Read(path string) (*Config, error) {
	file, err := fileperm.ReadFile("alerts file", path, maxConfig)
	if err != nil {
		return nil, err
	}
	c, err := Parse(filepath.Base(path), file.Text)
	if err == nil && c.inline {
		err = file.Secret()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Parse reads the text of an alerts file; name is its name in errors.
func Parse(name string, data []byte) (*Config, error) {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "%s: %s", name, fmt.Sprintf(format, args...))
	}
	var in file
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&in); err != nil {
		// The decoder repeats values in its errors, and a value may be an address.
		return nil, bad("it is not a valid alerts file (line %s); docs/alerts.md has an example.", lineOf(err))
	}
	c := &Config{For: defaultFor}
	var err error
	if c.For, err = duration(in.For, defaultFor, 0); err != nil {
		return nil, bad("\"for\" must be a duration such as 2m.")
	}
	if c.Link = strings.TrimSuffix(in.Link, "/"); c.Link != "" {
		u, err := url.Parse(c.Link)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
			u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(c.Link, "|<>\" ") {
			return nil, bad("\"link\" must be the address at which people reach shardboard, such as https://shardboard.example.")
		}
	}
	if len(in.Targets) == 0 || len(in.Targets) > maxTargets {
		return nil, bad("\"targets\" must list 1 to %d receivers.", maxTargets)
	}
	seen := map[string]bool{}
	for i, t := range in.Targets {
		out := Target{Name: t.Name, Format: t.Format, MinSeverity: Severity(t.MinSeverity)}
		if !names.MatchString(t.Name) || seen[t.Name] {
			return nil, bad("target %d: \"name\" must be unique and consist of letters, digits, dot, dash and underscore.", i+1)
		}
		seen[t.Name] = true
		if !slices.Contains(Formats(), out.Format) {
			return nil, bad("target %s: \"format\" must be generic, slack, pagerduty or alertmanager.", t.Name)
		}
		switch out.MinSeverity {
		case "":
			out.MinSeverity = Warn
		case Info, Warn, Critical:
		default:
			return nil, bad("target %s: \"min_severity\" must be info, warn or critical.", t.Name)
		}
		repeat := defaultRepeat
		if out.Format == Alertmanager {
			repeat = alertmanagerRepeat
		}
		if out.Repeat, err = duration(t.Repeat, repeat, leastRepeat); err != nil {
			return nil, bad("target %s: \"repeat\" must be a duration of at least 30s.", t.Name)
		}
		var problem string
		if out.key, problem = routingKey(out.Format, t.KeyFile, t.KeyEnv); problem != "" {
			return nil, bad("target %s: %s", t.Name, problem)
		}
		if out.Format == PagerDuty && t.URL == "" && t.URLFile == "" && t.URLEnv == "" {
			t.URL = pagerDutyEvents
		}
		if out.to, problem = address(t.URL, t.URLFile, t.URLEnv); problem != "" {
			return nil, bad("target %s: %s", t.Name, problem)
		}
		c.inline = c.inline || t.URL != "" && out.Format != PagerDuty // whose address is public; its key is the secret
		c.Targets = append(c.Targets, out)
	}
	return c, nil
}

var lines = regexp.MustCompile(`line (\d+)`)

func lineOf(err error) string {
	if m := lines.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return "not known"
}

func duration(text string, otherwise, least time.Duration) (time.Duration, error) {
	if text == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < least {
		err = errors.New("too short")
	}
	return d, err
}

// Formats are all formats of messages.
func Formats() []string { return []string{Generic, Slack, PagerDuty, Alertmanager} }

// routingKeys are 32 letters and digits, as PagerDuty makes them.
var routingKeys = regexp.MustCompile(`^[A-Za-z0-9]{32}$`)

// routingKey reads the key of a PagerDuty integration, which must not be in the alerts file itself: that file may
// be readable by others.
func routingKey(format, path, env string) (key secret, problem string) {
	switch given := path != "" || env != ""; {
	case format != PagerDuty && given:
		return nil, `only a receiver with "format: pagerduty" has a "key_file" or "key_env".`
	case format != PagerDuty:
		return nil, ""
	case !given || path != "" && env != "":
		return nil, `give the integration's routing key by one of "key_file" and "key_env".`
	}
	text := strings.TrimSpace(os.Getenv(env))
	if path != "" {
		data, err := fileperm.ReadSecret(`"key_file"`, path, maxConfig)
		if errors.Is(err, fs.ErrNotExist) { // the name is not repeated: it may be the key
			return nil, `"key_file" cannot be read: there is no such file.`
		}
		if err != nil {
			return nil, fault.Text(err)
		}
		text = strings.TrimSpace(string(data))
	}
	if !routingKeys.MatchString(text) {
		return nil, "its routing key does not have 32 letters and digits."
	}
	return newSecret(text), ""
}

// address reads a receiver's address from one of three places. problem says what is
// wrong without repeating the address.
func address(inline, path, env string) (to secret, problem string) {
	given := 0
	for _, has := range []bool{inline != "", path != "", env != ""} {
		if has {
			given++
		}
	}
	if given != 1 {
		return nil, `give the address by one of "url", "url_file" and "url_env".`
	}
	text := inline
	switch {
	case path != "":
		data, err := fileperm.ReadSecret(`"url_file"`, path, maxConfig)
		if errors.Is(err, fs.ErrNotExist) { // the name is not repeated: it may be an address
			return nil, `"url_file" cannot be read: there is no such file.`
		}
		if err != nil {
			return nil, fault.Text(err)
		}
		text = strings.TrimSpace(string(data))
	case env != "":
		text = strings.TrimSpace(os.Getenv(env))
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsAny(text, "\r\n") {
		return nil, "its address is not an http or https URL."
	}
	return newSecret(text), ""
}
