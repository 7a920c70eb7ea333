package main

import (
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"shardboard/internal/app"
	"shardboard/internal/configfile"
	"shardboard/internal/sanitize"
)

// notInFile are flags of serve that the configuration file cannot have.
var notInFile = []string{"config", "help", "log-format", "log-level"}

// perCluster are settings that a cluster of the file may have too. A reload brings new values into force.
var perCluster = []string{"profile", "alerts", "actions", "hide-bounds", "maintenance-window", "severity-bounds",
	"project-sizes-per-minute",
	"approval-bytes", "approval-chunks", "approval-kinds", "approval-wait"}

// read makes the configuration of flags, environment and, if there is one, the configuration file.
func (c serveCmd) read(e *env) (app.Config, error) {
	if c.Config == "" {
		return c.settings(e, false)
	}
	config, err := readWithFile(e, c.Config)
	if err != nil {
		return config, err
	}
	if config.Clusters != nil {
		config.Reload = func() (app.Config, error) { return readSeveral(e, c.Config) }
	}
	return config, nil
}

// readSeveral reads the file of a server of several clusters again. One without clusters would end all.
func readSeveral(e *env, path string) (app.Config, error) {
	config, err := readWithFile(e, path)
	if err == nil && config.Clusters == nil {
		err = &configfile.Problems{Lines: []string{path + ":1: the file has no clusters any more: a server of several becomes one of a single " +
			"cluster by a restart"}}
	}
	return config, err
}

// readWithFile parses the command line as if the file's settings were flags before those of the user,
// so that both have the same meaning, checks and help.
func readWithFile(e *env, path string) (app.Config, error) {
	given, exit := newCLI(), -1
	parser, err := newParser(&given, e.stdout, e.stderr, &exit)
	if err != nil {
		return app.Config{}, err
	}
	file, err := configfile.Read(path, settingsOfServe(parser))
	if err != nil {
		return app.Config{}, err
	}
	if len(file.Settings)+len(file.Clusters) == 0 {
		return app.Config{}, file.Err() // not even the form of a configuration
	}
	args, fixed := withSettings(e.args, file.Settings)
	if _, err := parser.Parse(args); err != nil {
		file.Add(lineOf(file.Settings, err), "%s", err.Error())
		return app.Config{}, file.Err()
	}
	app.CheckSecrets(file)
	c, several := given.Serve, len(file.Clusters) > 0
	if several && (c.URI != "" || c.URIFile != "") {
		file.Add(file.Clusters[0].Line, "the file has clusters, and there is an address by uri or uri-file too (in the file, a flag, or the "+
			"environment): remove one of both")
	}
	config, err := c.settings(e, several)
	if err != nil {
		file.Add(lineOf(file.Settings, err), "%s", message(err))
	}
	config.File, config.Fixed = path, fixed
	if several {
		texts := app.ClusterTexts{}
		for _, key := range perCluster {
			texts[key] = fmt.Sprint(flagText(parser, key))
		}
		config.Clusters = app.ReadClusters(file, config, texts)
	}
	return config, file.Err()
}

// lineOf is the line of the setting that an error names, else the first.
func lineOf(list []configfile.Setting, err error) int {
	for _, s := range list {
		if strings.Contains(err.Error(), "--"+s.Key) {
			return s.Line
		}
	}
	return 1
}

// withSettings puts the settings of a file after the word serve, but for those that the user gave as
// flags. fixed is what of them a reload cannot change.
func withSettings(args []string, settings []configfile.Setting) (out []string, fixed map[string]string) {
	at := slices.Index(args, "serve") + 1
	if at == 0 { // check-config takes the flags of serve
		args = append(slices.Clone(args), "serve")
		at = len(args)
	}
	fixed = map[string]string{}
	out = slices.Clone(args[:at])
	for _, s := range settings {
		if !slices.Contains(perCluster, s.Key) {
			fixed[s.Key] = strings.Join(s.Values, "\n")
		}
		flag := "--" + s.Key
		if slices.ContainsFunc(args, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") }) {
			continue
		}
		for _, v := range s.Values {
			out = append(out, flag+"="+v)
		}
	}
	return append(out, args[at:]...), fixed
}

// settingsOfServe are the keys of a file: the flags of serve, by the form of their values.
func settingsOfServe(parser *kong.Kong) map[string]configfile.Kind {
	out := map[string]configfile.Kind{}
	for _, f := range flagsOfServe(parser) {
		if slices.Contains(notInFile, f.Name) {
			continue
		}
		k := configfile.Kind{Type: typeOf(f.Target.Type())}
		if f.Enum != "" {
			k.Choices = f.EnumSlice()
		}
		out[f.Name] = k
	}
	return out
}

func flagsOfServe(parser *kong.Kong) (out []*kong.Flag) {
	for _, child := range parser.Model.Children {
		if child.Name == "serve" {
			return child.Flags
		}
	}
	return nil
}

// flagText is the value of a flag of serve after parsing.
func flagText(parser *kong.Kong, name string) any {
	for _, f := range flagsOfServe(parser) {
		if f.Name == name {
			return f.Target.Interface()
		}
	}
	return ""
}

func typeOf(t reflect.Type) configfile.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return configfile.Span
	case t.Kind() == reflect.Bool:
		return configfile.Switch
	case t.Kind() == reflect.Slice:
		return configfile.List
	case t.Kind() == reflect.Map:
		return configfile.Mapping
	case t.Kind() == reflect.Int:
		return configfile.Number
	}
	return configfile.Text
}

// reloadOnSignal reads the configuration file again at each SIGHUP, until its result is called. A
// mistake is in the log, on the page of clusters and in the metrics.
func reloadOnSignal(e *env, a *app.App) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-signals:
				_ = a.Reload(e.ctx) // reported where its readers look
			case <-over:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(over)
		<-ended
	}
}

// checkConfigCmd checks a configuration file without starting anything.
type checkConfigCmd struct {
	File string `arg:"" type:"path" help:"Configuration file, as for serve --config."`
}

// Run says that the file is in order, or prints all its mistakes.
func (c checkConfigCmd) Run(e *env) error {
	config, err := readWithFile(&env{ctx: e.ctx, stdout: e.stdout, stderr: e.stderr, log: e.log}, c.File)
	if err != nil {
		return err
	}
	if err := config.Check(); err != nil {
		return err
	}
	for _, text := range config.Ignored() {
		fmt.Fprintln(e.stdout, "warning: "+sanitize.Line(text))
	}
	if config.Clusters == nil {
		fmt.Fprintf(e.stdout, "%s is in order: one cluster, %s\n", c.File, config.URI)
		return nil
	}
	names := make([]string, len(config.Clusters))
	for i, one := range config.Clusters {
		names[i] = one.Name
	}
	fmt.Fprintf(e.stdout, "%s is in order: %s\n", c.File, strings.Join(names, ", "))
	return nil
}
