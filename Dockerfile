# Runs the sources as they are: there is nothing to build, so the first stage only installs the libraries.
# The optional packages (a Node and a Postgres for machines without them) are left out: this image has its own
# Node, and DATABASE_URL names the database.

FROM node:24-slim AS libraries
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
# The one place the process writes to. A new volume takes over this owner and mode.
RUN install -d -o 1000 -g 1000 -m 0700 /data
COPY --from=libraries /app/node_modules node_modules
COPY package.json ./
COPY migrations migrations
COPY views views
COPY src src
RUN ln -s /app/src/cli/main.ts /usr/local/bin/tessera
# The image's user `node`, by number, so that an orchestrator can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3000
# The server finishes what is in flight and may take 20 s for it: give it more (docker stop --timeout 25).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# A small young generation: the service holds little, and tens of megabytes less than with the default.
CMD ["node", "--max-semi-space-size=4", "src/server.ts"]
