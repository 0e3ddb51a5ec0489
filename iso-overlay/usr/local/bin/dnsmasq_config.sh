#!/bin/bash
# Writes the names of the cluster for dnsmasq, which answers them without any network. Same name, path and overrides as on
# a node of the assisted installer, so that the tools which know that one work here too.
set -u

# The cluster's name and domain as the Machine Config Operator laid them: KUBERNETES_SERVICE_HOST is api-int.NAME.DOMAIN.
[ -r /etc/kubernetes/apiserver-url.env ] && . /etc/kubernetes/apiserver-url.env
domain=${KUBERNETES_SERVICE_HOST:-}
domain=${domain#api-int.}

[ -r /etc/default/touchdown-address ] && . /etc/default/touchdown-address
[ -r /etc/default/sno_dnsmasq_configuration_overrides ] && . /etc/default/sno_dnsmasq_configuration_overrides
address=${SNO_DNSMASQ_IP_OVERRIDE:-${KUBELET_NODE_IP:-}}
name=${SNO_CLUSTER_NAME_OVERRIDE:-${domain%%.*}}
base=${SNO_BASE_DOMAIN_OVERRIDE:-${domain#*.}}

if [ -z "$address" ]; then
	echo "the node's address is not known: /etc/default/touchdown-address does not tell it" >&2
	exit 1
fi
if [ -z "$name" ] || [ -z "$base" ]; then
	echo "the cluster's name is not known: /etc/kubernetes/apiserver-url.env does not tell it" >&2
	exit 1
fi
mkdir -p /etc/dnsmasq.d
apps=apps.$name.$base internal=api-int.$name.$base api=api.$name.$base

# Where the disk is full or fails, the file stays as it was. dnsmasq reads no file whose name begins with a dot.
file=/etc/dnsmasq.d/single-node.conf new=/etc/dnsmasq.d/.single-node.conf
# dnsmasq asks the site's servers for what an address does not answer (2.86 and later). "local" ends that; it has to stand last.
if ! {
	printf 'address=/%s/%s\n' "$apps" "$address" "$internal" "$address" "$api" "$address" &&
		printf 'local=/%s/\n' "$apps" "$internal" "$api"
} >"$new" || ! sync "$new"; then
	rm -f "$new"
	exit 1
fi
mv -f "$new" "$file"
