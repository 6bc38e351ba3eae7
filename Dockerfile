# The image runs the sources without a build, so the first stage only installs the libraries. It omits the optional
# packages, a Node and a Postgres: the image has its own Node, and DATABASE_URL names the database.

FROM node:24-slim AS libraries
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-slim AS app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
# The process writes only here. A new volume gets this owner and mode.
RUN install -d -o 1000 -g 1000 -m 0700 /data
COPY --from=libraries /app/node_modules node_modules
COPY package.json CHANGELOG.md ./
COPY migrations migrations
COPY views views
# The pages at /docs show the guides.
COPY docs/en docs/en
COPY docs/zh-CN docs/zh-CN
# /admin/forum gives it out.
COPY examples/discourse-theme examples/discourse-theme
COPY src src
RUN ln -s /app/src/cli/tessera.js /usr/local/bin/tessera
# The version of package.json, which a label cannot read. test/platform/version.test.ts compares the two.
LABEL org.opencontainers.image.title="Tessera"
LABEL org.opencontainers.image.version="0.1.0"
# The number of the image's user `node` shows an orchestrator that the process does not run as root.
USER 1000:1000
VOLUME /data
EXPOSE 3000
# A stop may take 25 s: 5 s of grace and 20 s to finish. Allow more (docker stop --timeout 30).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# A small young generation saves tens of megabytes, because the service keeps few objects for long.
CMD ["node", "src/start.js"]

# Makes the backups of docker-compose.yml (`docker build --target backup .`). The programs of Postgres have the server's version,
# because pg_dump refuses a newer server. restic encrypts, sends, rotates and fetches; Debian keeps it up to date. Tessera proves the
# books of a restored backup.
FROM postgres:18 AS backup
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates libstdc++6 restic \
  && rm -rf /var/lib/apt/lists/*
COPY --from=app /usr/local/bin/node /usr/local/bin/node
COPY --from=app /app /app
COPY docs/operations/backup.sh docs/operations/restore.sh /
RUN ln -s /app/src/cli/tessera.js /usr/local/bin/tessera
ENTRYPOINT []
CMD ["/bin/sh", "/backup.sh"]

# One container to try Tessera, with the built-in Postgres: `docker run --rm --publish 127.0.0.1:3000:3000 …`. Never for members,
# because the packages of this Postgres lag behind its security releases.
FROM libraries AS trial-libraries
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -r node_modules/node-linux-*

FROM app AS trial
COPY --from=trial-libraries /app/node_modules node_modules

# `docker build .` makes the last stage.
FROM app
