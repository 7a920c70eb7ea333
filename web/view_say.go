package web

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// say is a sentence of a plan or a run: prefix says which part of it speaks. No
// code is no sentence.
func say(prefix string, s actions.Say) string {
	if s.Code == "" {
		return ""
	}
	code, args := strings.TrimPrefix(s.Code, prefix+"."), spoken(s.Args)
	switch prefix {
	case "plan":
		return words.Code("plan", code, args)
	case "check":
		return words.Code("check", code, args)
	case "source":
		return words.Code("source", code, args)
	case "undo":
		return words.Code("undo", code, args)
	case "stays":
		return words.Code("stays", code, args)
	case "obstacle":
		return words.Code("obstacle", code, args)
	case "run":
		return words.Code("run", code, args)
	}
	return words.Code(prefix, code, args)
}

// spoken makes words of arguments that are codes, bytes, parts of 1 or times.
func spoken(args map[string]string) map[string]string {
	out := maps.Clone(args)
	for name, value := range args {
		switch name {
		case "documents", "most":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				out[name] = format.Count(n)
			}
		case "bytes", "limit", "free", "chunkSize", "mean":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				out[name] = format.Bytes(n)
			}
		case "share":
			if part, err := strconv.ParseFloat(value, 64); err == nil {
				out[name] = format.Share(part)
			}
		case "at", "until", "expires":
			if at, err := time.Parse(time.RFC3339, value); err == nil {
				out[name] = at.UTC().Format("2006-01-02 15:04:05 UTC")
			}
		case "part":
			out[name] = topology.Part(value).Name()
		case "remedy":
			out[name] = words.Code("remedy", value, nil)
		case "since":
			out[name] = clockArg(value)
		case "by":
			if words.Has("by." + value) {
				out[name] = words.T("by." + value)
			}
		case "reason":
			out[name] = words.Code("reason", value, nil)
		}
	}
	if of, ok := args["of"]; ok {
		out["of"] = words.Code("plan", of, out)
	}
	return out
}
