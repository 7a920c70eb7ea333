package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shardboard/internal/app"
)

// clusterFlags select the cluster.
type clusterFlags struct {
	URI     string `name:"uri" env:"SHARDBOARD_URI" help:"mongodb:// address of a mongos. With a password, use the environment or --uri-file instead: other users of the machine can see arguments."`
	URIFile string `name:"uri-file" env:"SHARDBOARD_URI_FILE" help:"File that holds the address, or a pipe; others must not be able to read it."`
	Profile string `name:"profile" env:"SHARDBOARD_PROFILE" help:"File that says what tenants and documents are in this data (docs/profiles.md); default: Yorkie's."`
}

func (f clusterFlags) config(e *env) (app.Config, error) {
	uri, err := app.ReadURI(f.URI, f.URIFile)
	if err != nil {
		return app.Config{}, err
	}
	prof, err := app.ReadProfile(f.Profile)
	if err != nil {
		return app.Config{}, err
	}
	config := app.Config{URI: uri, Profile: prof, Version: version, Log: e.log}
	config.Cluster.File = f.URIFile // read again when it changes
	return config, nil
}

// dataFlags select the data directory.
type dataFlags struct {
	DataDir string `name:"data-dir" type:"path" env:"SHARDBOARD_DATA_DIR" placeholder:"DIR" help:"Directory for users, sessions, runs and the audit record, which nobody else may write to; default: $XDG_STATE_HOME/shardboard, else ~/.local/state/shardboard."`
}

func (f dataFlags) dir() (string, error) {
	if f.DataDir != "" {
		return f.DataDir, nil
	}
	return app.DefaultDataDir()
}

// storeFlags select a store on MongoDB instead of the data directory.
type storeFlags struct {
	Store     string `name:"store" env:"SHARDBOARD_STORE" placeholder:"URI" help:"mongodb:// address of a database of its own, for several replicas, instead of --data-dir (docs/data.md). With a password, use the environment or --store-file."`
	StoreFile string `name:"store-file" env:"SHARDBOARD_STORE_FILE" placeholder:"FILE" help:"File that holds the address of the store, or a pipe; others must not be able to read it."`
}

// opsFlags protect health and metrics where they have an address of their own.
type opsFlags struct {
	OpsTLSCert   string `name:"ops-tls-cert" type:"path" env:"SHARDBOARD_OPS_TLS_CERT" placeholder:"FILE" help:"TLS certificate of --ops-listen; read again when it is replaced."`
	OpsTLSKey    string `name:"ops-tls-key" type:"path" env:"SHARDBOARD_OPS_TLS_KEY" placeholder:"FILE" help:"File of its key; others must not be able to read it."`
	OpsTokenFile string `name:"ops-token-file" type:"path" env:"SHARDBOARD_OPS_TOKEN_FILE" placeholder:"FILE" help:"File of a token that /metrics at --ops-listen then needs, as bearer token or as password of basic auth with any user name; read at each request. /healthz and /readyz stay open."`
}

type serveCmd struct {
	clusterFlags   `embed:""`
	Config         string `name:"config" type:"path" env:"SHARDBOARD_CONFIG" placeholder:"FILE" help:"YAML file with any of these settings and with several clusters (docs/config.md). Flags win over the file, the file over the environment. SIGHUP reads it again."`
	Listen         string `default:"127.0.0.1:8090" env:"SHARDBOARD_LISTEN" help:"Address for browsers; off loopback only with sign-in and TLS."`
	OpsListen      string `name:"ops-listen" placeholder:"ADDRESS" env:"SHARDBOARD_OPS_LISTEN" help:"Address for /metrics, /healthz and /readyz. Without it they are at 127.0.0.1:8091 while other machines can reach --listen (it is not loopback, or a proxy, --public-url or --host is set), else at --listen."`
	opsFlags       `embed:""`
	Host           []string `name:"host" help:"Host name to accept besides loopback and --public-url, as a tunnel or proxy sends it."`
	Actions        string   `enum:"off,on" default:"off" env:"SHARDBOARD_ACTIONS" help:"Whether operators may change the cluster: off or on."`
	AuditKey       string   `name:"audit-key" type:"path" env:"SHARDBOARD_AUDIT_KEY" placeholder:"FILE" help:"Key that signs the audit record; created when it does not exist. Default: in the configuration directory of the user who runs this."`
	AuditKeyFrom   string   `name:"audit-key-from" type:"path" env:"SHARDBOARD_AUDIT_KEY_FROM" placeholder:"FILE" help:"File that has the audit key instead, such as a mounted secret that all replicas get; --audit-key then only says beside which name the last signed head is kept."`
	SessionKey     string   `name:"session-key" type:"path" env:"SHARDBOARD_SESSION_KEY" placeholder:"FILE" help:"Key that seals sessions and approvals in the store, so that rows of somebody else do not count. Needed with --store, the same file at all replicas; with a data directory it is created, by default beside the audit key."`
	Alerts         string   `name:"alerts" type:"path" env:"SHARDBOARD_ALERTS" placeholder:"FILE" help:"File with the alert receivers (docs/alerts.md); default: no alerts."`
	Maintenance    []string `name:"maintenance-window" sep:";" env:"SHARDBOARD_MAINTENANCE_WINDOW" placeholder:"WINDOW" help:"When data should move, such as 'Mon-Fri 01:00-05:00 Europe/Berlin' (default zone UTC); several by several flags, or separated by ';'. A plan outside of it needs a typed confirmation. Default: always."`
	SeverityBounds []string `name:"severity-bounds" env:"SHARDBOARD_SEVERITY_BOUNDS" placeholder:"NAME=VALUE" help:"From which figure on something is a problem or a warning, such as hot-warn-rate=500; several by several flags, or separated by ','. The names and defaults are in docs/problems.md."`
	approvalFlags  `embed:""`
	HideBounds     bool   `name:"hide-bounds" env:"SHARDBOARD_HIDE_BOUNDS" help:"Show chunk bounds, which are key values, only to the role support and above; not to viewers, and not in alerts."`
	ProjectSizes   int    `name:"project-sizes-per-minute" default:"1200" env:"SHARDBOARD_PROJECT_SIZES_PER_MINUTE" placeholder:"N" help:"Documents a minute that are read from the cluster to estimate what each project holds on each shard, at most 6000; 0 switches it off. Default 1200."`
	Projects       string `name:"metrics-projects" enum:"none,rank,id,name" default:"rank" env:"SHARDBOARD_METRICS_PROJECTS" help:"What tells the ten hottest projects apart in /metrics, which needs no sign-in on --ops-listen: their rank, id or name (with the id); none leaves them out. Default rank."`
	dataFlags      `embed:""`
	storeFlags     `embed:""`
	signInFlags    `embed:""`

	MemoryLimit string `name:"memory-limit" env:"SHARDBOARD_MEMORY_LIMIT" placeholder:"SIZE" help:"Memory that shardboard may take, such as 512MiB or 2GB; as it comes near, shardboard gives up heat, then past times, then what pages remember, and reads no larger routing table. Default: the container's limit, where there is one; off is none."`

	MaxConnections *int `name:"max-connections" env:"SHARDBOARD_MAX_CONNECTIONS" placeholder:"N" help:"Limit of open connections, of which live pages may hold three quarters (6700 for 5,000) and one address one quarter; default 1024. Each is an open file (ulimit -n)."`
}

func (c serveCmd) Run(e *env) error {
	config, err := c.read(e)
	if err != nil {
		return err
	}
	a, err := app.New(e.ctx, config)
	if err != nil {
		return err
	}
	a.Start()
	defer reloadOnSignal(e, a)()
	if err := printStart(e, a, config); err != nil {
		return errors.Join(err, stop(e, a))
	}
	return waitAndStop(e, a)
}

// settings makes the configuration of the flags.
func (c serveCmd) settings(e *env, several bool) (config app.Config, err error) {
	if several {
		prof, err := app.ReadProfile(c.Profile)
		if err != nil {
			return config, err
		}
		config = app.Config{Profile: prof, Version: version, Log: e.log}
	} else if config, err = c.config(e); err != nil {
		return config, err
	}
	if config.Store, err = app.ReadStore(c.Store, c.StoreFile); err != nil {
		return config, err
	}
	if config.Store.IsZero() {
		if config.DataDir, err = c.dir(); err != nil {
			return config, err
		}
	}
	config.AuditKeyFrom, config.SessionKey = c.AuditKeyFrom, c.SessionKey
	if config.AuditKey = c.AuditKey; config.AuditKey == "" {
		if config.AuditKey, err = app.DefaultAuditKey(); err != nil {
			return config, err
		}
	}
	if config.Alerts, err = app.ReadAlerts(c.Alerts); err != nil {
		return config, err
	}
	if config.Maintenance, err = app.ReadMaintenance(c.Maintenance); err != nil {
		return config, err
	}
	if config.Bounds, err = app.ReadSeverityBounds(c.SeverityBounds); err != nil {
		return config, err
	}
	if config.Approval, err = c.approval(); err != nil {
		return config, err
	}
	config.Listen, config.OpsListen, config.Hosts, config.Actions = c.Listen, c.OpsListen, c.Host, c.Actions == "on"
	config.OpsTLSCert, config.OpsTLSKey, config.OpsTokenFile = c.OpsTLSCert, c.OpsTLSKey, c.OpsTokenFile
	config.HideBounds = c.HideBounds
	if config.MetricsProjects, err = app.ParseMetricsProjects(c.Projects); err != nil {
		return config, err
	}
	if config.HoldingsPerMinute, err = app.HoldingsPerMinute(c.ProjectSizes); err != nil {
		return config, err
	}
	if err := c.checkTimes(); err != nil {
		return config, err
	}
	if config.MemoryLimit, err = app.ReadMemoryLimit(c.MemoryLimit); err != nil {
		return config, err
	}
	if c.MaxConnections != nil {
		if err := app.CheckMaxConnections(*c.MaxConnections); err != nil {
			return config, err
		}
		config.MaxConnections = *c.MaxConnections
	}
	c.addTo(&config)
	return config, nil
}

// printStart prints the address and how to sign in. The first admin's link is a secret: it goes to
// the terminal and never to the log.
func printStart(e *env, a *app.App, config app.Config) error {
	fmt.Fprintf(e.stdout, "shardboard is at %s\n", a.URL())
	if a.OpsAddr() != a.Addr() {
		fmt.Fprintf(e.stdout, "Health and metrics are at %s/\n", a.OpsURL())
	}
	if a.ReadOnly() {
		fmt.Fprintf(
			e.stdout,
			"Another shardboard owns %s, so this one only reads: nobody can sign in here. When that one has stopped, this one can take over: "+
				"docs/data.md.\n",
			config.DataDir,
		)
	}
	if config.Auth.Mode == "none" {
		fmt.Fprintln(e.stdout, "Sign-in is off (--auth none): every program and person on this machine has the admin role.")
	}
	link, err := a.FirstLink(e.ctx)
	if link != "" {
		fmt.Fprintf(e.stdout, "There are no users yet. Whoever opens this link first, within an hour, becomes the admin:\n  %s\n", link)
	}
	return err
}

// waitAndStop waits for a signal or a failed part and then stops everything.
func waitAndStop(e *env, a *app.App) error {
	done := make(chan error, 1)
	go func() { done <- a.Wait() }()
	var failed error
	select {
	case <-e.ctx.Done():
	case failed = <-done:
	}
	if err := stop(e, a); failed == nil {
		failed = err
	}
	return failed
}

func stop(e *env, a *app.App) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 10*time.Second)
	defer cancel()
	return a.Stop(ctx)
}
