package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/app"
)

// completionTime is how long a person at a prompt waits for names.
const completionTime = time.Second

// serverNames are the names of a kind on the server that the command line or the environment names; none
// if there is none, or it is slow.
func serverNames(ctx context.Context, c cursor, kind string) []candidate {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	server := defaultServer
	for _, text := range []string{os.Getenv("SHARDBOARD_SERVER"), c.given["server"]} {
		if text != "" {
			server = text
		}
	}
	remote, err := app.ReadRemote(server, os.Getenv("SHARDBOARD_TOKEN"), os.Getenv("SHARDBOARD_TOKEN_FILE"))
	if err == nil && kind != "clusters" {
		remote, err = remote.Of(cmp.Or(c.given["cluster"], os.Getenv("SHARDBOARD_CLUSTER")))
	}
	if err != nil {
		return nil
	}
	path := api.Prefix + "/" + kind + "?limit=1000"
	if kind == "projects" { // there can be more than one page of them
		path += "&q=" + url.QueryEscape(c.last)
	}
	text, _, err := remote.Read(ctx, path, "")
	if err != nil {
		return nil
	}
	return namesIn(text)
}

// namesIn are the names in a list of the API.
func namesIn(text []byte) []candidate {
	var list struct {
		Items []struct {
			ID      string `json:"id"`
			Name    string `json:"name"`
			NS      string `json:"ns"`
			Zone    string `json:"zone"`
			Summary string `json:"summary"`
		} `json:"items"`
	}
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	var out []candidate
	for _, x := range list.Items {
		switch {
		case x.Zone != "":
			out = append(out, candidate{x.Zone, ""})
		case x.ID != "" && x.Summary != "":
			out = append(out, candidate{x.ID, x.Summary})
		case x.Name != "":
			out = append(out, candidate{x.Name, x.ID})
		case x.NS != "":
			out = append(out, candidate{x.NS, ""})
		}
	}
	return out
}
