got=$(sh add.sh 2 3)
echo "want 5 got $got"
test "$got" = 5
