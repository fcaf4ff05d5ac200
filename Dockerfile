# docker build -t deciban . && docker run --rm -v "$PWD:/data" deciban eval scores.csv
FROM python:3.12-slim
COPY . /source
RUN pip install --no-cache-dir "/source[excel]" && rm -r /source
WORKDIR /data
ENTRYPOINT ["deciban"]
