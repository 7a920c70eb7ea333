{{/* The environment of the container. Secrets are files. */}}
{{- define "shardboard.env" -}}
- {name: SHARDBOARD_LISTEN, value: ":8090"}
- {name: SHARDBOARD_OPS_LISTEN, value: ":8091"}
- {name: SHARDBOARD_SERVER, value: "http://127.0.0.1:8091"}
{{- if .Values.clusters }}
- {name: SHARDBOARD_CONFIG, value: /config/shardboard.yaml}
{{- else if include "shardboard.configFile" . }}
- {name: SHARDBOARD_CONFIG, value: {{ printf "/config/%s" .Values.configFile.key | quote }}}
{{- else }}
- {name: SHARDBOARD_URI_FILE, value: {{ printf "/secrets/uri/%s" .Values.cluster.uriSecret.key | quote }}}
{{- if .Values.cluster.alertsSecret.name }}
- {name: SHARDBOARD_ALERTS, value: {{ printf "/secrets/alerts/one/%s" .Values.cluster.alertsSecret.key | quote }}}
{{- end }}
{{- if .Values.cluster.profileConfigMap.name }}
- {name: SHARDBOARD_PROFILE, value: {{ printf "/profiles/one/%s" .Values.cluster.profileConfigMap.key | quote }}}
{{- end }}
{{- end }}
{{- if .Values.store.uriSecret.name }}
- {name: SHARDBOARD_STORE_FILE, value: {{ printf "/secrets/store/%s" .Values.store.uriSecret.key | quote }}}
{{- end }}
- {name: SHARDBOARD_DATA_DIR, value: /data/shardboard}
- {name: SHARDBOARD_AUDIT_KEY, value: /keys/shardboard/audit.key}
{{- if .Values.audit.keySecret.name }}
- {name: SHARDBOARD_AUDIT_KEY_FROM, value: {{ printf "/secrets/audit/%s" .Values.audit.keySecret.key | quote }}}
{{- end }}
{{- if .Values.sessions.keySecret.name }}
- {name: SHARDBOARD_SESSION_KEY, value: {{ printf "/secrets/sessions/%s" .Values.sessions.keySecret.key | quote }}}
{{- end }}
- {name: SHARDBOARD_PUBLIC_URL, value: {{ .Values.publicURL | quote }}}
{{- if .Values.tls.secretName }}
- {name: SHARDBOARD_TLS_CERT, value: /secrets/tls/tls.crt}
- {name: SHARDBOARD_TLS_KEY, value: /secrets/tls/tls.key}
{{- else }}
- {name: SHARDBOARD_TLS_TERMINATED_BY_PROXY, value: "true"}
{{- end }}
{{- with .Values.tls.proxyCIDRs }}
- {name: SHARDBOARD_PROXY_CIDR, value: {{ join "," . | quote }}}
{{- end }}
- {name: SHARDBOARD_ACTIONS, value: {{ .Values.actions | quote }}}
- {name: SHARDBOARD_AUTH, value: {{ .Values.auth.mode | quote }}}
{{- if contains "oidc" .Values.auth.mode }}
{{- with .Values.auth.oidc }}
- {name: SHARDBOARD_OIDC_ISSUER, value: {{ .issuer | quote }}}
- {name: SHARDBOARD_OIDC_CLIENT_ID, value: {{ .clientID | quote }}}
{{- if .clientSecret.name }}
- {name: SHARDBOARD_OIDC_CLIENT_SECRET_FILE, value: {{ printf "/secrets/oidc/%s" .clientSecret.key | quote }}}
{{- end }}
{{- if or .ca.secret .ca.configMap }}
- {name: SHARDBOARD_OIDC_CA_FILE, value: {{ printf "/oidc-ca/%s" .ca.key | quote }}}
{{- end }}
{{- $roles := list }}
{{- range $group, $role := .roles }}{{ $roles = append $roles (printf "%s=%s" $group $role) }}{{ end }}
{{- with $roles }}
- {name: SHARDBOARD_OIDC_ROLE_MAP, value: {{ join ";" . | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.maxConnections }}
- {name: SHARDBOARD_MAX_CONNECTIONS, value: {{ int . | quote }}}
{{- end }}
{{- range $name, $value := .Values.settings }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end }}
